// core: Pure rules and values that every house uses. No file here reads a disk or a clock, or has
// SQL.
import { refuse } from './error/error.ts'

declare const versionBrand: unique symbol
declare const identityBrand: unique symbol

/** A version as published: strict SemVer 2.0.0 with numbers up to u64, as in Cargo. */
export type Version = string & { readonly [versionBrand]: true }

/** A version without build metadata; a crate can have only one version of each identity. */
export type VersionIdentity = string & { readonly [identityBrand]: true }

const NUMBER = '0|[1-9][0-9]*'
const PRE = `(?:${NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`
const BUILD = '[0-9A-Za-z-]+'
const GRAMMAR = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${PRE}(?:\\.${PRE})*))?` +
    `(?:\\+(${BUILD}(?:\\.${BUILD})*))?$`,
)

export const U64_MAX = '18446744073709551615'

/** Most characters of a version: with the longest name, its file name has 255 bytes. */
export const VERSION_MAX = 184

/** The parts of a version. Numbers stay decimal text, which is exact at any size. */
interface VersionParts {
  readonly major: string
  readonly minor: string
  readonly patch: string
  readonly pre: readonly string[]
  readonly build: string | null
}

/**
 * Parses a version; like Cargo, refuses `v1.0.0`, `=1.0.0`, `01.0.0`, `1.0` and numbers beyond u64;
 * also more than `VERSION_MAX` characters.
 */
export function parseVersion(text: string): Version {
  const [{ length }, max] = [text, VERSION_MAX]
  if (length > max) refuse('version_too_long', { version: text, length, max })
  if (!isVersion(text)) refuse('version_invalid', { version: text })
  return text
}

/** Whether `parseVersion` accepts `text`. */
export function isVersion(text: string): text is Version {
  const match = text.length > VERSION_MAX ? null : GRAMMAR.exec(text)
  return match?.slice(1, 4).every(number => compareNumbers(number, U64_MAX) <= 0) ?? false
}

/** Splits a version. */
export function versionParts(version: Version): VersionParts {
  const [, major = '', minor = '', patch = '', pre, build] = GRAMMAR.exec(version) ?? []
  return { major, minor, patch, pre: pre?.split('.') ?? [], build: build ?? null }
}

/** Whether `text` is a `rust_version`: digits and dots, without operator and pre-release. */
export function isRustVersion(text: string): boolean {
  return /^(?:0|[1-9]\d{0,9})(?:\.(?:0|[1-9]\d{0,9})){0,2}$/.test(text)
}

/** Returns the version without `+build`, which Cargo and crates.io ignore. */
export function versionIdentity(version: Version): VersionIdentity {
  return version.replace(/\+.*$/, '') as VersionIdentity
}

/** Refuses a version of which there is only another build: who changes one names that very one. */
export function requireThisBuild(
  versions: Iterable<Version>,
  { name, version }: { readonly name: string; readonly version: Version },
): void {
  const identity = versionIdentity(version)
  const existing = [...versions].find(each => versionIdentity(each) === identity)
  if (existing && existing !== version) refuse('release_other_build', { name, version, existing })
}

/** Whether the version is a pre-release (`1.0.0-alpha`). */
export function isPrerelease(version: Version): boolean {
  return versionParts(version).pre.length > 0
}

/** Compares by SemVer 2.0.0 precedence (§11), exact for every u64; ignores build metadata. */
export function compareVersions(a: Version, b: Version): number {
  const left = versionParts(a)
  const right = versionParts(b)
  return (
    compareNumbers(left.major, right.major) ||
    compareNumbers(left.minor, right.minor) ||
    compareNumbers(left.patch, right.patch) ||
    comparePre(left.pre, right.pre)
  )
}

/** Returns the newest version: the highest stable unyanked one, else unyanked, else any. */
export function newestVersion<T extends { readonly version: Version; readonly yanked: boolean }>(
  releases: readonly T[],
): T | undefined {
  return best(releases, ({ yanked, version }) => (yanked ? 0 : isPrerelease(version) ? 1 : 2))
}

/** Sorts by SemVer precedence, highest first. */
export function newestFirst<T extends { readonly version: Version }>(versions: readonly T[]): T[] {
  return versions.toSorted((a, b) => compareVersions(b.version, a.version))
}

/** Returns the highest version that is not yanked, pre-releases included; if all are, the highest. */
export function highestVersion<T extends { readonly version: Version; readonly yanked?: boolean }>(
  releases: readonly T[],
): T | undefined {
  return best(releases, ({ yanked }) => (yanked ? 0 : 1))
}

function best<T extends { readonly version: Version }>(
  releases: readonly T[],
  rank: (release: T) => number,
): T | undefined {
  return releases
    .toSorted((a, b) => rank(b) - rank(a) || compareVersions(b.version, a.version))
    .at(0)
}

/** Returns the release that precedes a version by SemVer precedence, yanked or not. */
export function previousOf<T extends { readonly version: Version }>(
  releases: readonly T[],
  version: Version,
): T | null {
  return releases
    .filter(release => compareVersions(release.version, version) < 0)
    .reduce<T | null>(
      (best, next) => (best && compareVersions(best.version, next.version) > 0 ? best : next),
      null,
    )
}

/** Compares decimal numbers of any length, without leading zeros. */
export function compareNumbers(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}

/** Compares pre-release identifiers (SemVer §11.3–11.4); a version without any is higher. */
function comparePre(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = comparePreIdentifier(a[i] as string, b[i] as string)
    if (order !== 0) return order
  }
  return a.length - b.length
}

function comparePreIdentifier(a: string, b: string): number {
  const aNumeric = /^[0-9]+$/.test(a)
  const bNumeric = /^[0-9]+$/.test(b)
  if (aNumeric && bNumeric) return compareNumbers(a, b)
  if (aNumeric !== bNumeric) return aNumeric ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}
