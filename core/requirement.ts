import { refuse } from './error/error.ts'
import type { Version, VersionParts } from './version.ts'
import { compareNumbers, comparePre, versionParts } from './version.ts'

declare const requirementBrand: unique symbol

/** A version requirement in the words in which Cargo prints it: `1.0` → `^1.0`, `>=1, <2`, `1.*`, `*`. */
export type Requirement = string & { readonly [requirementBrand]: true }

/** `1.*` has an operator of its own: it prints without one and matches like `=1`. */
type Operator = '=' | '>' | '>=' | '<' | '<=' | '~' | '^' | '*'

interface Comparator {
  readonly operator: Operator
  readonly major: string
  readonly minor: string | null
  readonly patch: string | null
  readonly pre: readonly string[]
}

/** Most comparators that Cargo reads in one requirement. */
const COMPARATORS_MAX = 32
const U64_MAX = '18446744073709551615'
const NUMBER = '0|[1-9][0-9]{0,19}'
const PRE = '(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
const IDENTIFIER = '[0-9A-Za-z-]+'
const COMPARATOR = new RegExp(
  `^(=|>=|>|<=|<|~|\\^)? *(${NUMBER})(?:\\.(${NUMBER}|[*xX])(?:\\.(${NUMBER}|[*xX])` +
    `(?:-(${PRE}(?:\\.${PRE})*))?(?:\\+${IDENTIFIER}(?:\\.${IDENTIFIER})*)?)?)?$`,
)

/**
 * The only way to a `Requirement`: the grammar of the `semver` crate, which Cargo reads, printed the way it prints it.
 * Comparators are joined by `,`; `*`, `x` and `X` are wildcards; build metadata is read and dropped.
 * Throws a `Refusal` for what only other tools understand: `1 - 2`, `||`, `>=1 <2` without a comma, `v1`, nothing at all.
 */
export function parseRequirement(text: string): Requirement {
  const comparators = readComparators(text)
  if (!comparators)
    refuse('requirement_invalid', {
      requirement: text.length > 100 ? `${text.slice(0, 100)}…` : text,
    })
  return (comparators.length === 0 ? '*' : comparators.map(print).join(', ')) as Requirement
}

/**
 * Whether `version` meets `requirement`, exactly as Cargo decides it: a pre-release only matches when a comparator names
 * a pre-release of the same `major.minor.patch`; numbers are compared as u64; build metadata does not count.
 */
export function satisfies(requirement: Requirement, version: Version): boolean {
  const comparators = readComparators(requirement) ?? []
  const parts = versionParts(version)
  if (!comparators.every(one => matches(one, parts))) return false
  return parts.pre.length === 0 || comparators.some(one => admitsPrerelease(one, parts))
}

/** The comparators of `text`, none for `*`; null when Cargo could not read it. */
function readComparators(text: string): Comparator[] | null {
  if (/^ *[*xX] *$/.test(text)) return []
  const pieces = text.split(',', COMPARATORS_MAX + 1)
  if (pieces.length > COMPARATORS_MAX) return null
  const comparators = pieces.map(piece => readComparator(stripSpaces(piece)))
  return comparators.every(one => one !== null) ? comparators : null
}

function readComparator(text: string): Comparator | null {
  const match = COMPARATOR.exec(text)
  if (!match) return null
  const [, operator, major = '', minor, patch, pre] = match
  const wild = isWildcard(minor) || isWildcard(patch)
  if (isWildcard(minor) && patch !== undefined && !isWildcard(patch)) return null
  // Only a whole version goes on with `-pre` or `+build`.
  if (wild && /[-+]/.test(text)) return null
  const numbers = [major, minor, patch].filter(one => one !== undefined && !isWildcard(one))
  if (numbers.some(one => compareNumbers(one ?? '', U64_MAX) > 0)) return null
  return {
    operator: (operator as Operator | undefined) ?? (wild ? '*' : '^'),
    major,
    minor: isWildcard(minor) ? null : (minor ?? null),
    patch: isWildcard(patch) ? null : (patch ?? null),
    pre: pre?.split('.') ?? [],
  }
}

function isWildcard(text: string | undefined): boolean {
  return text === '*' || text === 'x' || text === 'X'
}

/** Spaces around a comparator mean nothing; other white space is not read at all. */
function stripSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === ' ') start++
  while (end > start && text[end - 1] === ' ') end--
  return text.slice(start, end)
}

function print(one: Comparator): string {
  const sign = one.operator === '*' ? '' : one.operator
  const tail = one.operator === '*' ? '.*' : ''
  if (one.minor === null) return `${sign}${one.major}${tail}`
  if (one.patch === null) return `${sign}${one.major}.${one.minor}${tail}`
  const pre = one.pre.length > 0 ? `-${one.pre.join('.')}` : ''
  return `${sign}${one.major}.${one.minor}.${one.patch}${pre}`
}

function matches(one: Comparator, version: VersionParts): boolean {
  switch (one.operator) {
    case '=':
    case '*':
      return isExactly(one, version)
    case '>':
      return compare(one, version) > 0
    case '>=':
      return isExactly(one, version) || compare(one, version) > 0
    case '<':
      return compare(one, version) < 0
    case '<=':
      return isExactly(one, version) || compare(one, version) < 0
    case '~':
      return isTilde(one, version)
    case '^':
      return isCaret(one, version)
  }
}

/** The version against the comparator; a part left out makes them equal there (`>1` needs 2.0.0). */
function compare(one: Comparator, version: VersionParts): number {
  const major = compareNumbers(version.major, one.major)
  if (major !== 0 || one.minor === null) return major
  const minor = compareNumbers(version.minor, one.minor)
  if (minor !== 0 || one.patch === null) return minor
  return compareNumbers(version.patch, one.patch) || comparePre(version.pre, one.pre)
}

function isExactly(one: Comparator, version: VersionParts): boolean {
  if (version.major !== one.major) return false
  if (one.minor !== null && version.minor !== one.minor) return false
  if (one.patch !== null && version.patch !== one.patch) return false
  return comparePre(version.pre, one.pre) === 0
}

function isTilde(one: Comparator, version: VersionParts): boolean {
  if (version.major !== one.major) return false
  if (one.minor !== null && version.minor !== one.minor) return false
  return isPatchUp(one, version)
}

function isCaret(one: Comparator, version: VersionParts): boolean {
  if (version.major !== one.major) return false
  if (one.minor === null) return true
  const minor = compareNumbers(version.minor, one.minor)
  if (one.patch === null) return one.major === '0' ? minor === 0 : minor >= 0
  if (one.major !== '0' && minor !== 0) return minor > 0
  if (minor !== 0) return false
  if (one.major === '0' && one.minor === '0' && version.patch !== one.patch) return false
  return isPatchUp(one, version)
}

function isPatchUp(one: Comparator, version: VersionParts): boolean {
  const patch = one.patch === null ? 0 : compareNumbers(version.patch, one.patch)
  return patch !== 0 ? patch > 0 : comparePre(version.pre, one.pre) >= 0
}

function admitsPrerelease(one: Comparator, version: VersionParts): boolean {
  return (
    one.pre.length > 0 &&
    one.major === version.major &&
    one.minor === version.minor &&
    one.patch === version.patch
  )
}
