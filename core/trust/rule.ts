import { type Issue, issue, warning } from '../error/error.ts'
import type { IssuerKind } from '../settings/issuer.ts'
import { type Claims, claimValues, DEPTH_MAX, eachClaim, foldCase, plainName } from './claims.ts'
import { EVENTS, KINDS, UNSAFE_EVENTS, workflowOf } from './kinds.ts'

/** What a rule wants of each claim: any of some values. */
export type WantedClaims = readonly (readonly [name: string, values: readonly string[]])[]

/** An id that belongs to a name: `['repository', 'acme/demo', 'repository_id', '42']`. */
export type Pin = readonly [claim: string, name: string, id: string, value: string]

/** The part of a rule that a token is compared with. */
export interface Wanted {
  readonly claims: WantedClaims
  readonly pins: readonly Pin[]
}

/** A claim of a token that a rule does not let through. */
export interface Difference {
  readonly claim: string
  readonly was: readonly string[]
  readonly wanted: readonly string[]
}

/** Names that their systems compare without regard to case. */
const CASELESS: ReadonlySet<string> = new Set(
  'repository repository_owner environment project_path namespace_path organization_slug'.split(
    ' ',
  ),
)

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/
/** A JSON pointer (RFC 6901). */
const POINTER = new RegExp(`^(?=.{2,255}$)(?:/(?:[^\\p{Cc}~/]|~[01])*){1,${DEPTH_MAX}}$`, 'u')
const VALUE = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,255}$/u
/** Claims that say which branch a job is of, or who has let it go on. */
const BRANCHES = ['ref', 'environment', 'build_branch', 'build_tag']
const CLAIMS_MAX = 20
const VALUES_MAX = 50

/** Returns the claims of `KEY=VALUE` texts; a repeated key means any of its values. */
export function parseClaims(texts: readonly string[]): WantedClaims {
  const byName = new Map<string, string[]>()
  for (const text of texts) {
    const at = text.indexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    byName.set(name, [...(byName.get(name) ?? []), at < 0 ? '' : text.slice(at + 1)])
  }
  return [...byName]
}

/** Returns claims as they are written at the command line. */
export function textsOf(claims: WantedClaims): string[] {
  return claims.flatMap(([name, values]) => values.map(each => `${name}=${each}`))
}

/** Returns the claims of a rule as people see them: with the ids that were found out. */
export function shownClaims({ claims, pins }: Wanted): WantedClaims {
  const byName = new Map(claims.map(([name, values]) => [name, [...values]]))
  for (const [, , id, value] of pins) byName.set(id, [...(byName.get(id) ?? []), value])
  return [...byName]
}

/** Returns why a rule for an issuer cannot be written with these claims, and what is dangerous. */
export function ruleIssues(kind: IssuerKind, isShared: boolean, claims: WantedClaims): Issue[] {
  const names = claims.map(([name]) => plainName(name))
  const { owners } = KINDS[kind]
  const isOwned = owners.some(owner => names.includes(owner))
  const issues = claims.flatMap(([name, values]) => claimIssues(name, values))
  if (claims.length === 0) issues.push(issue('rule_claims_none'))
  if (claims.length > CLAIMS_MAX) issues.push(issue('rule_claims_many', { max: CLAIMS_MAX }))
  if (isShared && !isOwned)
    issues.push(
      owners.length > 0
        ? issue('rule_owner_missing', { claims: owners.join('`, `') })
        : issue('rule_issuer_shared'),
    )
  if (!names.some(name => BRANCHES.includes(name)) && kind !== 'kubernetes')
    issues.push(warning('rule_any_ref'))
  return issues
}

function claimIssues(name: string, values: readonly string[]): Issue[] {
  if (!NAME.test(name) && !POINTER.test(name)) return [issue('rule_claim_name', { name })]
  const bad = values.filter(value => !VALUE.test(value))
  const globs = name === 'ref' ? [] : values.filter(value => value.includes('*'))
  const isEvent = plainName(name) === 'event_name'
  const unsafe = isEvent ? values.filter(value => UNSAFE_EVENTS.includes(value)) : []
  return [
    ...bad.map(value => issue('rule_claim_value', { name, value })),
    ...globs.map(value => issue('rule_claim_glob', { name, value })),
    ...unsafe.map(event => issue('event_unsafe', { event })),
    ...(values.length > VALUES_MAX ? [issue('rule_values_many', { name, max: VALUES_MAX })] : []),
  ]
}

/** Returns the values of a claim; `workflow` is the file of the workflow that was started. */
export function valuesOf(kind: IssuerKind, claims: Claims, name: string): string[] {
  if (name !== 'workflow' || !KINDS[kind].job) return claimValues(claims, name)
  const file = workflowOf(kind, claims)
  return file === null ? [] : [file]
}

/** A name and the pointer to it make the same key. */
const keyOf = (name: string, value: string) => `${name.replace(/^\//, '')}=${foldCase(value)}`

/** Finds all rules that may match, and few others: `*` is the key of a rule that names no value. */
const ANY_KEY = '*'

/** Returns the keys of a rule, of which a token that it lets through has one. */
export function ruleKeys(kind: IssuerKind, claims: WantedClaims): string[] {
  const { owners } = KINDS[kind]
  const exact = claims.filter(([name, values]) => !values.some(value => isGlob(name, value)))
  const narrow =
    owners.flatMap(owner => exact.filter(([name]) => plainName(name) === owner))[0] ?? exact[0]
  return narrow ? narrow[1].map(value => keyOf(narrow[0], value)) : [ANY_KEY]
}

/** Returns the keys of a token, which every rule that lets it through has one of. */
export function tokenKeys(kind: IssuerKind, claims: Claims): string[] {
  const keys = new Set([ANY_KEY])
  for (const [name, value] of eachClaim(claims)) keys.add(keyOf(name, value))
  for (const file of valuesOf(kind, claims, 'workflow')) keys.add(keyOf('workflow', file))
  return [...keys]
}

/** Returns what keeps a token from a rule; empty for a token that the rule lets through. */
export function differences(kind: IssuerKind, rule: Wanted, claims: Claims): Difference[] {
  const { ids, job } = KINDS[kind]
  const pinned = Object.keys(ids).flatMap(claim => {
    const names = claimValues(claims, claim).map(foldCase)
    return rule.pins.filter(([of, name]) => of === claim && names.includes(name))
  })
  const named = rule.claims.map(([name]) => plainName(name))
  const events = job?.event === 'event_name' && !named.includes('event_name')
  const wanted: WantedClaims = [
    ...pinned.map(([, , id, value]) => [id, [value]] as const),
    ...rule.claims,
    ...(events ? [['event_name', EVENTS] as const] : []),
  ]
  return wanted.flatMap(([claim, values]) => {
    const was = valuesOf(kind, claims, claim)
    const isThere = was.some(value => values.some(each => fits(claim, each, value)))
    return isThere ? [] : [{ claim, was, wanted: values }]
  })
}

/** Returns the ids that a rule has to keep after it has let a token through; its own and new ones. */
export function pinsAfter(kind: IssuerKind, rule: Wanted, claims: Claims): readonly Pin[] {
  // A pointer to a name is that name: it can change hands as well.
  const named = new Set(rule.claims.map(([name]) => plainName(name)))
  const pinned = Object.entries(KINDS[kind].ids).flatMap(([claim, ids]) => {
    const [name] = named.has(claim) ? claimValues(claims, claim) : []
    if (name === undefined) return []
    const free = ids.filter(id => !named.has(id))
    return free.flatMap(id =>
      claimValues(claims, id).map((value): Pin => [claim, foldCase(name), id, value]),
    )
  })
  const isKept = ([claim, name, id]: Pin) =>
    rule.pins.some(pin => pin[0] === claim && pin[1] === name && pin[2] === id)
  return [...rule.pins, ...pinned.filter(pin => !isKept(pin))]
}

function isGlob(claim: string, value: string): boolean {
  return claim === 'ref' && value.includes('*')
}

function fits(claim: string, wanted: string, value: string): boolean {
  if (CASELESS.has(plainName(claim))) return foldCase(wanted) === foldCase(value)
  return isGlob(claim, wanted) ? fitsGlob(wanted, value) : wanted === value
}

/** Git has no longer names of branches and tags. */
const REF_MAX = 1000

/** Compares as GitHub's filters do: `*` stands for any text without `/`, `**` for any text. */
function fitsGlob(pattern: string, text: string): boolean {
  if (text.length > REF_MAX) return false
  // Where in the text that may end which was compared so far: a `Set` keeps that linear.
  let ends = new Set([0])
  for (const part of pattern.split(/(\*+)/)) {
    const next = new Set<number>()
    for (const end of ends) {
      const slash = part === '*' ? text.indexOf('/', end) : -1
      const last = slash < 0 ? text.length : slash
      if (part.startsWith('*')) for (let at = end; at <= last && !next.has(at); at++) next.add(at)
      else if (text.startsWith(part, end)) next.add(end + part.length)
    }
    ends = next
  }
  return ends.has(text.length)
}
