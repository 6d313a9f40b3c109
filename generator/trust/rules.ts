// generator/trust: Rules of CI identities, the tokens of issuers, and those given for them. Daemon
// and commands call it; it publishes nothing.
import { refuse } from '../../core/error/error.ts'
import { type CanonicalName, patternsOf } from '../../core/name.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import { type Pin, textsOf, type WantedClaims } from '../../core/trust/rule.ts'
import { all, column, LIST, type Queries, value } from '../database/statement.ts'
import { GROUP_LOGIN } from '../records/groups.ts'

/** Which jobs of an issuer may publish a crate, or the crates of a prefix. */
export interface TrustRule {
  readonly id: number
  /** The name of a crate, or a prefix and `*`, as it was written. */
  readonly crate: string
  readonly pattern: string
  /** The crate, if the rule belongs to one that was there. */
  readonly crateId: number | null
  readonly issuer: string
  readonly claims: WantedClaims
  readonly pins: readonly Pin[]
  /** The first owner of crates that it creates: a login, or a group as it is written. */
  readonly owner: string | null
  /** Who wrote it: a login, or null for the operator. */
  readonly writer: string | null
  readonly created: string
  readonly used: string | null
}

/** A rule that was never used ends after this. */
const UNUSED_SECONDS = 30 * 86_400

const RULE = `trust_rules.id, trust_rules.name AS crate, pattern, crate_id AS "crateId",
  trust_rules.issuer, claims, pins, coalesce(owners_of.login, ${GROUP_LOGIN}) AS owner,
  writers.login AS writer, trust_rules.created_at AS created, used_at AS used
  FROM trust_rules LEFT JOIN users AS owners_of ON owners_of.id = owner_id
  LEFT JOIN groups ON groups.id = owner_group
  LEFT JOIN users AS writers ON writers.id = created_by`

type Stored = Omit<TrustRule, 'claims' | 'pins'> & Readonly<Record<'claims' | 'pins', string>>

/** Returns the rules for which a condition is true, by id. */
async function select(db: Queries, where: string, ...values: Parameters): Promise<TrustRule[]> {
  const rows = await all<Stored>(db, `SELECT ${RULE} WHERE ${where}`, ...values)
  return rows.map(({ claims, pins, ...row }) => {
    return { ...row, claims: JSON.parse(claims) as WantedClaims, pins: JSON.parse(pins) as Pin[] }
  })
}

type Parameters = readonly (string | number | readonly (string | number)[])[]

/** Rules that count: an unused one ends. A time of a clock that was wrong is none. */
const ALIVE = '(used_at <= ? OR trust_rules.created_at BETWEEN ? AND ?)'
const BY_ID = 'ORDER BY trust_rules.id'

const timesOf = (now: Date) => [latest(now), timestamp(now, -UNUSED_SECONDS), latest(now)] as const

/** Returns the rules of an issuer that have one of these keys. */
export function rulesByKey(db: Queries, issuer: string, keys: readonly string[], now: Date) {
  const keyed = `SELECT rule_id FROM trust_keys WHERE trust_keys.issuer = ? AND key IN ${LIST}`
  const where = `${ALIVE} AND trust_rules.id IN (${keyed}) ${BY_ID}`
  return select(db, where, ...timesOf(now), issuer, keys)
}

/** Returns the rules that count for a crate: its own, else those of names and prefixes. */
export async function rulesFor(
  db: Queries,
  { crateId, patterns }: { readonly crateId: number | null; readonly patterns: readonly string[] },
  now: Date,
): Promise<TrustRule[]> {
  const own = `${ALIVE} AND crate_id = ? ${BY_ID}`
  const owned = await select(db, own, ...timesOf(now), crateId ?? 0)
  if (owned.length > 0) return owned
  const free = `${ALIVE} AND crate_id IS NULL AND pattern IN ${LIST} ${BY_ID}`
  return select(db, free, ...timesOf(now), patterns)
}

/** Which rules to list: by default all. */
export interface RuleFilter {
  /** Those that belong to these crates. */
  readonly crateIds?: readonly number[]
  /** Those that one of these users wrote. */
  readonly writers?: readonly string[]
  readonly issuer?: string
  /** Only those with a higher id. */
  readonly after?: number
  readonly limit?: number
}

/** Lists rules by id. */
export function listRules(db: Queries, filter: RuleFilter = {}): Promise<TrustRule[]> {
  const { crateIds, writers, issuer, after = 0, limit = Number.MAX_SAFE_INTEGER } = filter
  const conditions = [
    ...(crateIds ? [[`crate_id IN ${LIST}`, crateIds] as const] : []),
    ...(writers ? [[`writers.login IN ${LIST}`, writers] as const] : []),
    ...(issuer ? [['trust_rules.issuer = ?', issuer] as const] : []),
    ['trust_rules.id > ?', after] as const,
  ]
  const where = conditions.map(([sql]) => sql).join(' AND ')
  return select(db, `${where} ${BY_ID} LIMIT ?`, ...conditions.map(([, each]) => each), limit)
}

/** Returns a rule by its number, which may be a text of others; refuses an unknown one. */
export async function requireRule(db: Queries, id: number | string): Promise<TrustRule> {
  const number = /^\d{1,15}$/.test(`${id}`) ? Number(id) : 0
  const [rule] = await select(db, 'trust_rules.id = ?', number)
  return rule ?? refuse('rule_unknown', { id })
}

/** Returns a rule in one line, such as `rule 3 (github: repository=acme/demo)`. */
export function ruleText({ id, issuer, claims }: TrustRule): string {
  return `rule ${id} (${issuer}: ${textsOf(claims).join(' ')})`
}

/** Returns the patterns of crates whose versions come from CI only. */
export function listTrustedOnly(db: Queries): Promise<string[]> {
  return column(db, 'SELECT pattern FROM trust_only ORDER BY pattern')
}

/** Returns the narrowest pattern by which versions of a crate come from CI only; null for none. */
export function trustedOnlyBy(db: Queries, name: CanonicalName): Promise<string | null> {
  const sql = `SELECT max(pattern) FROM trust_only WHERE pattern IN ${LIST}`
  return value(db, sql, patternsOf(name))
}
