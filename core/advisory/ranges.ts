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
  const isIn = (range: VersionRange) => isBefore(version, range.fixed)
  return ranges.some(range => !isBefore(version, range.introduced) && isIn(range))
}

function isBefore(version: Version, end: Version | null): boolean {
  return end === null || compareVersions(version, end) < 0
}

/**
 * Returns the ranges of all versions that no requirement covers, as the crate `rustsec` does: each
 * is an interval by precedence, which takes in the pre-releases that Cargo would leave out. `> 1.2`
 * is `> 1.2.0` there, and `= 1.2` is `= 1.2.0`. Null if one of them is no requirement.
 */
export function rangesWithout(requirements: readonly string[]): VersionRange[] | null {
  const free: VersionRange[] = []
  for (const text of requirements) {
    const comparators = readComparators(text)
    if (!comparators) return null
    let [introduced, fixed]: [Version, Version | null] = [LOWEST, null]
    for (const interval of comparators.map(intervalOf)) {
      if (isBefore(introduced, interval.introduced)) introduced = interval.introduced
      if (interval.fixed !== null && isBefore(interval.fixed, fixed)) fixed = interval.fixed
    }
    if (isBefore(introduced, fixed)) free.push({ introduced, fixed })
  }
  free.sort((a, b) => compareVersions(a.introduced, b.introduced))
  const ranges: VersionRange[] = []
  let next: Version | null = LOWEST
  for (const { introduced, fixed } of free) {
    if (next === null) break
    if (isBefore(next, introduced)) ranges.push({ introduced: next, fixed: introduced })
    if (isBefore(next, fixed)) next = fixed
  }
  return next === null ? ranges : [...ranges, { introduced: next, fixed: null }]
}

/** Returns the version that follows in the order of precedence: `1.2.4-0` after `1.2.3`. */
export function following(version: Version): Version {
  const { major, minor, patch, pre } = versionParts(version)
  const next = `${major}.${minor}.${plusOne(patch)}-0`
  return parseVersion(pre.length > 0 ? `${version.replace(/\+.*/, '')}.0` : next)
}

function intervalOf({ operator, major, minor, patch, pre }: Comparator): VersionRange {
  const suffix = pre.length > 0 ? `-${pre.join('.')}` : ''
  const version = `${major}.${minor ?? 0}.${patch ?? 0}${suffix}` as Version
  if (operator === '>') return { introduced: following(version), fixed: null }
  if (operator === '>=') return { introduced: version, fixed: null }
  if (operator === '<') return { introduced: LOWEST, fixed: version }
  if (operator === '<=') return { introduced: LOWEST, fixed: following(version) }
  if (operator === '=') return { introduced: version, fixed: following(version) }
  const isMajor = minor === null || (operator === '^' && major !== '0')
  const isPatch = operator === '^' && minor === '0' && patch !== null
  const end = isMajor ? [plusOne(major), 0, 0] : [major, plusOne(minor), 0]
  const next = isPatch && !isMajor ? [0, 0, plusOne(patch)] : end
  return { introduced: version, fixed: parseVersion(`${next.join('.')}-0`) }
}

function plusOne(number: string): string {
  return String(BigInt(number) + 1n)
}

/**
 * Returns the newest version that a requirement may take, where nobody knows which versions exist.
 * It looks at those that the requirement and the ranges name, and at the next ones after these.
 * Undefined if none of them fits.
 */
export function newestFit(
  requirement: Requirement,
  ranges: readonly VersionRange[],
): Version | undefined {
  const named = (readComparators(requirement) ?? []).map(({ major, minor, patch, pre }) => {
    const suffix = pre.length > 0 ? `-${pre.join('.')}` : ''
    return `${major}.${minor ?? 0}.${patch ?? 0}${suffix}` as Version
  })
  const bounds = ranges.flatMap(({ introduced, fixed }) => [introduced, ...(fixed ? [fixed] : [])])
  const releases = [...bounds, ...named, ...named.map(following)].map(version => {
    const { major, minor, patch } = versionParts(version)
    return `${major}.${minor}.${patch}` as Version
  })
  const fitting = [...releases, ...named].filter(version => satisfies(requirement, version))
  return fitting.sort(compareVersions).at(-1)
}
