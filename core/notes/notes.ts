// core/notes: What people say of releases: why one is yanked, what is deprecated. Settings, records
// and pages call it; it never decides who may say it.
import * as v from 'valibot'
import { collect } from '../error/error.ts'
import { isName } from '../name.ts'
import { jsonIn } from '../plain-data.ts'
import { parseRequirement, type Requirement, satisfies } from '../requirement.ts'
import { isVersion, type Version } from '../version.ts'

const REASON = /^(?=.*[^\s\p{DI}])[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{NChar}]{1,500}$/u

/**
 * Returns whether text may be the reason of a yank or a deprecation: one paragraph of 1 to 500 code
 * points that shows something, without control characters or those that turn the direction of text.
 */
export function isReason(text: string): boolean {
  return REASON.test(text)
}

/** That a crate, or some versions of it, should not be used any more. */
export interface Deprecation {
  /** The versions; `*` for all. */
  readonly requirement: string
  /** Null where only the badge of the manifest says so. */
  readonly reason: string | null
  /** What to use instead: a crate or an https address; null for nothing. */
  readonly use: string | null
}

type Badges = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Returns what is said of a version, in words or by the badge of its manifest; null for nothing. */
export function deprecationOf(
  all: readonly Deprecation[],
  version: Version,
  { badges }: { readonly badges?: Badges },
): Deprecation | null {
  const fitting = all.filter(({ requirement }) => covers(requirement, version))
  // Some versions come before all of them: `*` is the least of all requirements.
  const [said] = fitting.sort((a, b) => (a.requirement > b.requirement ? -1 : 1))
  if (said) return said
  const isBadged = badges?.maintenance?.status === 'deprecated'
  return isBadged ? { requirement: '*', reason: null, use: null } : null
}

/** Returns whether a deprecation of these versions is about one; pre-releases are in a range. */
export function covers(requirement: string, version: Version): boolean {
  return requirement === '*' || satisfies(requirement as Requirement, version, true)
}

/**
 * Returns the requirement of `NAME` or `NAME@REQUIREMENT`, and the name, not checked. A whole
 * version means only that one, as wherever a command or setting takes `NAME@VERSION`.
 */
export function parseDeprecated(spec: string): { name: string; requirement: string } {
  const [, name = '', versions = '*'] = /^([^@]*)(?:@(.*))?$/s.exec(spec) ?? []
  return { name, requirement: parseRequirement(isVersion(versions) ? `=${versions}` : versions) }
}

/** Says a deprecation in a few words. */
export function deprecationText({ reason, use }: Deprecation): string {
  return `deprecated${reason === null ? '' : `: ${reason}`}${use === null ? '' : ` (use ${use})`}`
}

/** Returns whether something may be used instead: a crate by its name, or an https address. */
export function isSuccessor(use: string): boolean {
  if (isName(use)) return true
  // A user before the host could look like the host.
  const isAddress = /^https:\/\/[\x21-\x7e]{1,500}$/.test(use) && URL.canParse(use)
  return isAddress && new URL(use).username === ''
}

const reason = v.pipe(v.string(), v.check(isReason))

const yankedTable = v.strictObject({ version: v.string(), reason: v.nullish(reason, null) })

const deprecatedTable = v.strictObject({
  crate: v.pipe(
    v.string(),
    v.check(spec => isName(collect([], () => parseDeprecated(spec))?.name ?? '')),
  ),
  reason,
  use: v.nullish(v.pipe(v.string(), v.check(isSuccessor)), null),
})

/** Returns an item of the setting `yanked`: NAME@VERSION, or a table in JSON; else null. */
export function yankedItem(item: string) {
  const table = item.startsWith('{') ? jsonIn(item) : { version: item }
  const result = v.safeParse(yankedTable, table)
  const [name = '', version = '', more] = result.success ? result.output.version.split('@') : []
  const isGood = isName(name) && isVersion(version) && more === undefined
  return result.success && isGood ? result.output : null
}

/** Returns an item of the setting `deprecated`, a table in JSON; else null. */
export function deprecatedItem(item: string) {
  const result = v.safeParse(deprecatedTable, jsonIn(item))
  return result.success ? result.output : null
}
