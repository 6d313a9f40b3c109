import semver from 'semver'
import { refuse } from './error/error.ts'
import { compareNumbers, U64_MAX, type Version, versionParts } from './version.ts'

declare const requirementBrand: unique symbol

/** A version requirement as Cargo prints it: `1.0` → `^1.0`, `>=1, <2`, `1.*`, `*`. */
export type Requirement = string & { readonly [requirementBrand]: true }

/** `*` is the operator of `1.*`, which prints without an operator and matches like `=1`. */
type Operator = '=' | '>' | '>=' | '<' | '<=' | '~' | '^' | '*'

/** One comparison of a requirement; what it leaves out is null. */
export interface Comparator {
  readonly operator: Operator
  readonly major: string
  readonly minor: string | null
  readonly patch: string | null
  readonly pre: readonly string[]
}

const COMPARATORS_MAX = 32
const NUMBER = '0|[1-9][0-9]{0,19}'
const PRE = '(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
const IDENTIFIER = '[0-9A-Za-z-]+'
const COMPARATOR = new RegExp(
  `^ *(?:(=|>=|>|<=|<|~|\\^) *)?(${NUMBER})(?:\\.(${NUMBER}|[*xX])(?:\\.(${NUMBER}|[*xX])` +
    `(?:-(${PRE}(?:\\.${PRE})*))?(?:\\+${IDENTIFIER}(?:\\.${IDENTIFIER})*)?)?)? *$`,
)

/**
 * Parses a requirement with the grammar of the Rust crate `semver`, and prints it the same way. `,`
 * joins comparators; `*`, `x` and `X` are wildcards; build metadata is dropped. Refuses the syntax
 * of other tools: `1 - 2`, `||`, `>=1 <2` without a comma, `v1`, an empty text.
 */
export function parseRequirement(text: string): Requirement {
  const comparators = readComparators(text)
  if (!comparators) refuse('requirement_invalid', { requirement: text })
  return (comparators.length === 0 ? '*' : comparators.map(print).join(', ')) as Requirement
}

/**
 * Whether `version` satisfies `requirement` in Cargo: a pre-release only matches a comparator with
 * a pre-release of the same `major.minor.patch`; build metadata is ignored. True for a version that
 * is too long for the library, because callers want to protect dependents. With
 * `includePrerelease`, precedence alone decides.
 */
export function satisfies(
  requirement: Requirement,
  version: Version,
  includePrerelease = false,
): boolean {
  const comparators = readComparators(requirement) ?? []
  const parts = versionParts(version)
  const rank = ranking([parts, ...comparators].flatMap(numbersOf))
  const parsed = semver.parse(spell(parts, rank))
  const range = rangeText(comparators, rank)
  return parsed === null || semver.satisfies(parsed, range, { includePrerelease })
}

/** Returns `satisfies` for one requirement, which takes a tenth of the time for many versions. */
export function matcher(requirement: Requirement): (version: Version) => boolean {
  const slow = (version: Version) => satisfies(requirement, version)
  // Such numbers are exact only when they are ranked.
  const isLong = (text: string) => /\d{16}/.test(text)
  if (isLong(requirement)) return slow
  const range = new semver.Range(rangeText(readComparators(requirement) ?? [], n => n))
  return version => (isLong(version) ? slow(version) : range.test(version))
}

/** Says what a requirement allows, in one way for `^1.0` and `>=1.0.0, <2.0.0`. */
export function meaning(requirement: Requirement): string {
  const range = semver.validRange(requirement.replaceAll(',', ' '))
  return range?.replaceAll(/-0(?= |$)/g, '') ?? requirement
}

function rangeText(comparators: readonly Comparator[], rank: (n: string) => string): string {
  // The library takes `<2` for `<2.0.0-0`.
  const whole = (part: Comparator) =>
    part.operator === '<' ? { ...part, minor: part.minor ?? '0', patch: part.patch ?? '0' } : part
  return comparators.map(part => `${operatorOf(part)}${spell(whole(part), rank)}`).join(' ')
}

/** Returns the comparisons of a requirement, none for `*`; null for any other text. */
export function readComparators(text: string): Comparator[] | null {
  if (/^ *[*xX] *$/.test(text)) return []
  const pieces = text.split(',', COMPARATORS_MAX + 1)
  if (pieces.length > COMPARATORS_MAX) return null
  const comparators = pieces.map(piece => readComparator(piece))
  return comparators.every(part => part !== null) ? comparators : null
}

function readComparator(text: string): Comparator | null {
  const match = COMPARATOR.exec(text)
  if (!match) return null
  const [, operator, major = '', minor, patch, pre] = match
  const wild = isWildcard(minor) || isWildcard(patch)
  if (isWildcard(minor) && patch !== undefined && !isWildcard(patch)) return null
  // Only a complete version can have `-pre` or `+build`.
  if (wild && /[-+]/.test(text)) return null
  const numbers = [major, minor, patch].filter(n => n !== undefined && !isWildcard(n))
  if (numbers.some(n => compareNumbers(n ?? '', U64_MAX) > 0)) return null
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

function print(comparator: Comparator): string {
  return `${operatorOf(comparator)}${spell(comparator, number => number)}${comparator.operator === '*' ? '.*' : ''}`
}

function operatorOf({ operator }: Comparator): string {
  return operator === '*' ? '' : operator
}

/**
 * Maps numbers to small ones in the same order, 0 to 0: the library uses doubles, which are not
 * exact for every u64, and only the order of the numbers matters.
 */
function ranking(numbers: readonly string[]): (number: string) => string {
  const sorted = [...new Set(['0', ...numbers])].sort(compareNumbers)
  return number => String(sorted.indexOf(number))
}

type Parts = Pick<Comparator, 'major' | 'minor' | 'patch' | 'pre'>

function numbersOf({ major, minor, patch, pre }: Parts): string[] {
  return [major, minor, patch, ...pre].filter(
    number => number !== null && /^[0-9]+$/.test(number),
  ) as string[]
}

function spell({ major, minor, patch, pre }: Parts, rank: (number: string) => string): string {
  const release = [major, minor, patch]
    .filter(number => number !== null)
    .map(rank)
    .join('.')
  const suffix = pre.map(part => (/^[0-9]+$/.test(part) ? rank(part) : part)).join('.')
  return suffix === '' ? release : `${release}-${suffix}`
}
