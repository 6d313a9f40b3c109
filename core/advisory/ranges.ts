import { type Comparator, type Requirement, readComparators, satisfies } from '../requirement.ts'
import { compareVersions, parseVersion, type Version, versionParts } from '../version.ts'

/** Versions from one on, and before another one; null is no end. */
export interface VersionRange {
  readonly introduced: Version
  readonly fixed: Version | null
}

/** No version precedes it. */
export const LOWEST = '0.0.0-0' as Version

/** Whether a version is in one of the ranges, by precedence: build metadata means nothing. */
export function isInRanges(ranges: readonly VersionRange[], version: Version): boolean {
  return ranges.some(
    ({ introduced, fixed }) =>
      compareVersions(version, introduced) >= 0 &&
      (fixed === null || compareVersions(version, fixed) < 0),
  )
}

/**
 * Returns the ranges of all versions that no requirement covers, as the crate `rustsec` does: each
 * is an interval by precedence, which takes in the pre-releases that Cargo would leave out. `> 1.2`
 * is `> 1.2.0` there, and `= 1.2` is `= 1.2.0`. Null if one of them is no requirement.
 */
export function rangesWithout(requirements: readonly string[]): VersionRange[] | null {
  const intervals: VersionRange[] = []
  for (const text of requirements) {
    const comparators = readComparators(text)
    if (!comparators) return null
    const interval = comparators.map(intervalOf).reduce(intersection, ALL)
    intervals.push(interval)
  }
  const isEmpty = ({ introduced, fixed }: VersionRange) =>
    fixed !== null && compareVersions(introduced, fixed) >= 0
  const sorted = intervals
    .filter(interval => !isEmpty(interval))
    .sort((a, b) => compareVersions(a.introduced, b.introduced))
  const ranges: VersionRange[] = []
  let next: Version | null = LOWEST
  for (const { introduced, fixed } of sorted) {
    if (next === null) break
    if (compareVersions(next, introduced) < 0) ranges.push({ introduced: next, fixed: introduced })
    next = fixed === null ? null : highest(next, fixed)
  }
  return next === null ? ranges : [...ranges, { introduced: next, fixed: null }]
}

/**
 * Returns a version as new as any that fits a requirement, where nobody knows which there are: as
 * if all existed that the requirement and some ranges name, and those after them. Undefined if none
 * of these fits.
 */
export function newestFit(
  requirement: Requirement,
  ranges: readonly VersionRange[],
): Version | undefined {
  const named = (readComparators(requirement) ?? []).map(versionOf)
  const bounds = ranges.flatMap(({ introduced, fixed }) => [introduced, ...(fixed ? [fixed] : [])])
  const releases = [...bounds, ...named, ...named.map(following)].map(version => {
    const { major, minor, patch } = versionParts(version)
    return `${major}.${minor}.${patch}` as Version
  })
  const fitting = [...releases, ...named].filter(version => satisfies(requirement, version))
  return fitting.sort(compareVersions).at(-1)
}

/** Returns the version that follows in the order of precedence: `1.2.4-0` after `1.2.3`. */
export function following(version: Version): Version {
  const { major, minor, patch, pre } = versionParts(version)
  const next =
    pre.length > 0
      ? `${major}.${minor}.${patch}-${[...pre, '0'].join('.')}`
      : `${major}.${minor}.${plusOne(patch)}-0`
  return parseVersion(next)
}

const ALL: VersionRange = { introduced: LOWEST, fixed: null }

function intersection(a: VersionRange, b: VersionRange): VersionRange {
  const ends = [a.fixed, b.fixed].filter(end => end !== null).sort(compareVersions)
  return { introduced: highest(a.introduced, b.introduced), fixed: ends[0] ?? null }
}

function highest(a: Version, b: Version): Version {
  return compareVersions(a, b) < 0 ? b : a
}

function intervalOf(comparator: Comparator): VersionRange {
  const { operator } = comparator
  const version = versionOf(comparator)
  if (operator === '>') return { introduced: following(version), fixed: null }
  if (operator === '>=') return { introduced: version, fixed: null }
  if (operator === '<') return { introduced: LOWEST, fixed: version }
  if (operator === '<=') return { introduced: LOWEST, fixed: following(version) }
  if (operator === '=') return { introduced: version, fixed: following(version) }
  return { introduced: version, fixed: parseVersion(`${nextIncompatible(comparator)}-0`) }
}

function versionOf({ major, minor, patch, pre }: Comparator): Version {
  const suffix = pre.length > 0 ? `-${pre.join('.')}` : ''
  return `${major}.${minor ?? 0}.${patch ?? 0}${suffix}` as Version
}

/** Returns where `^`, `~` and `1.*` end. */
function nextIncompatible({ operator, major, minor, patch }: Comparator): string {
  const isMajor = minor === null || (operator === '^' && major !== '0')
  if (isMajor) return `${plusOne(major)}.0.0`
  const isMinor = operator !== '^' || minor !== '0' || patch === null
  return isMinor ? `${major}.${plusOne(minor)}.0` : `0.0.${plusOne(patch)}`
}

function plusOne(number: string): string {
  return String(BigInt(number) + 1n)
}
