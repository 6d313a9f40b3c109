// generator/trust: Rules of CI identities, the tokens of issuers, and those given for them. Daemon
// and commands call it; it publishes nothing.
import { type Issue, issue, refuse, refuseErrors } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { type IssuerSettings, isShared } from '../../core/settings/issuer.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { Claims } from '../../core/trust/claims.ts'
import { type CratePattern, parsePattern } from '../../core/trust/pattern.ts'
import {
  differences,
  type Pin,
  pinsAfter,
  ruleIssues,
  ruleKeys,
  textsOf,
  type WantedClaims,
} from '../../core/trust/rule.ts'
import type { Database } from '../database/connection.ts'
import {
  all,
  column,
  first,
  insert,
  insertAll,
  LIST,
  type Queries,
  type Row,
  run,
  value,
} from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted } from '../records/change.ts'
import { findCrate } from '../records/crates.ts'
import { requireOwner } from '../records/owners.ts'

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
  /** The login of the first owner of crates that it creates. */
  readonly owner: string | null
  /** Who wrote it: a login, or null for the operator. */
  readonly writer: string | null
  readonly created: string
  readonly used: string | null
}

const RULES_MAX = 20

/** A rule that was never used ends after this. */
const UNUSED_SECONDS = 30 * 86_400

const RULE = `trust_rules.id, trust_rules.name AS crate, pattern, crate_id AS "crateId", issuer,
  claims, pins, owners_of.login AS owner, writers.login AS writer,
  trust_rules.created_at AS created, used_at AS used
  FROM trust_rules LEFT JOIN users AS owners_of ON owners_of.id = owner_id
  LEFT JOIN users AS writers ON writers.id = created_by`

type Stored = Omit<TrustRule, 'claims' | 'pins'> & Readonly<Record<'claims' | 'pins', string>>

function ruleOf({ claims, pins, ...row }: Stored): TrustRule {
  return { ...row, claims: JSON.parse(claims) as WantedClaims, pins: JSON.parse(pins) as Pin[] }
}

/** Rules that count: an unused one ends. `?` is the time before which it must have been made. */
const ALIVE = '(used_at IS NOT NULL OR trust_rules.created_at > ?)'

const bornAfter = (now: Date) => timestamp(now, -UNUSED_SECONDS)

/** Returns the rules of an issuer that have one of these keys. */
export async function rulesByKey(
  db: Queries,
  issuer: string,
  keys: readonly string[],
  now: Date,
): Promise<TrustRule[]> {
  const sql = `SELECT ${RULE} WHERE ${ALIVE} AND trust_rules.id IN (
    SELECT rule_id FROM trust_keys WHERE trust_keys.issuer = ? AND key IN ${LIST})
    ORDER BY trust_rules.id`
  return (await all<Stored>(db, sql, bornAfter(now), issuer, keys)).map(ruleOf)
}

/** Returns the rules that count for a crate: its own, else those of names and prefixes. */
export async function rulesFor(
  db: Queries,
  { crateId, patterns }: { readonly crateId: number | null; readonly patterns: readonly string[] },
  now: Date,
): Promise<TrustRule[]> {
  const own = `SELECT ${RULE} WHERE ${ALIVE} AND crate_id = ? ORDER BY trust_rules.id`
  const rows = crateId === null ? [] : await all<Stored>(db, own, bornAfter(now), crateId)
  if (rows.length > 0) return rows.map(ruleOf)
  const sql = `SELECT ${RULE} WHERE ${ALIVE} AND crate_id IS NULL AND pattern IN ${LIST}
    ORDER BY trust_rules.id`
  return (await all<Stored>(db, sql, bornAfter(now), patterns)).map(ruleOf)
}

/** Which rules to list: by default all. */
export interface RuleFilter {
  /** Those that belong to these crates. */
  readonly crateIds?: readonly number[]
  readonly issuer?: string
  /** Only those with a higher id. */
  readonly after?: number
  readonly limit?: number
}

/** Lists rules by id. */
export async function listRules(db: Queries, filter: RuleFilter = {}): Promise<TrustRule[]> {
  const { crateIds, issuer, after = 0, limit = Number.MAX_SAFE_INTEGER } = filter
  const conditions = [
    ...(crateIds ? [[`crate_id IN ${LIST}`, crateIds] as const] : []),
    ...(issuer ? [['issuer = ?', issuer] as const] : []),
    ['trust_rules.id > ?', after] as const,
  ]
  const where = conditions.map(([sql]) => sql).join(' AND ')
  const values = conditions.map(([, each]) => each)
  const sql = `SELECT ${RULE} WHERE ${where} ORDER BY trust_rules.id LIMIT ?`
  return (await all<Stored>(db, sql, ...values, limit)).map(ruleOf)
}

/** A rule to be written. */
export interface RuleOrder {
  /** A crate, or a prefix and `*`. */
  readonly crate: string
  readonly issuer: string
  readonly claims: WantedClaims
  /** The login of the first owner of crates that it creates. */
  readonly owner: string | null
  /** The claims of a token from which ids are taken. */
  readonly from?: Claims | null
}

/** Returns the section of an issuer; refuses a name that the settings lack. */
export function issuerNamed(settings: Pick<Settings, 'issuer'>, name: string): IssuerSettings {
  const found = Object.hasOwn(settings.issuer, name) ? settings.issuer[name] : undefined
  return found ?? refuse('issuer_unknown', { name })
}

/**
 * Writes a rule: owners for their crate, administrators for names that are not there, and prefixes.
 * Returns it with what is dangerous about it.
 */
export async function addRule(
  { database, settings }: { readonly database: Database; readonly settings: Settings },
  order: RuleOrder,
  change: Change,
): Promise<{ readonly rule: TrustRule; readonly warnings: readonly Issue[] }> {
  const issuer = issuerNamed(settings, order.issuer)
  const { kind } = issuer
  const issues = ruleIssues(kind, isShared(issuer), order.claims)
  refuseErrors(issues)
  const wanted = { claims: order.claims, pins: [] }
  const from = order.from ?? null
  if (from) requireSame(wanted, issuer, from)
  const pins = from ? pinsAfter(kind, wanted, from) : []
  const target = patternOf(order.crate)
  const rule = await changeCrates(database, target, change, async (tx, by, crate) => {
    const owner = await firstOwner(tx, order, crate?.name ?? null)
    const same = 'SELECT count(*) FROM trust_rules WHERE pattern = ? AND coalesce(crate_id, 0) = ?'
    if (Number(await value(tx, same, target.pattern, crate?.id ?? 0)) >= RULES_MAX)
      refuse('rules_too_many', { max: RULES_MAX, kind })
    const id = await insert(tx, 'trust_rules', {
      issuer: issuer.name,
      name: crate?.name ?? order.crate,
      pattern: target.pattern,
      crate_id: crate?.id ?? null,
      claims: JSON.stringify(order.claims),
      pins: JSON.stringify(pins),
      owner_id: owner,
      created_by: by.who === 'user' ? by.user.id : null,
      created_at: by.at,
    })
    const keys = [...new Set(ruleKeys(kind, order.claims))]
    await insertAll(
      tx,
      'trust_keys',
      keys.map(key => ({ issuer: issuer.name, key, rule_id: id })),
    )
    const detail = { rule: id, issuer: issuer.name, claims: textsOf(order.claims) }
    await addEvent(tx, by, { action: 'trust-add', ...eventOf(target, crate), detail })
    return requireRule(tx, id)
  })
  return { rule, warnings: issues }
}

/** Removes a rule: whoever may write it may remove it. Refuses an unknown one. */
export async function dropRule(database: Database, id: number, change: Change): Promise<TrustRule> {
  const { crate } = await requireRule(database, id)
  return changeCrates(database, patternOf(crate), change, async (tx, by, found) => {
    const rule = await requireRule(tx, id)
    await run(tx, 'DELETE FROM trust_keys WHERE rule_id = ?', id)
    await run(tx, 'DELETE FROM trust_rules WHERE id = ?', id)
    const detail = { rule: id, issuer: rule.issuer, claims: textsOf(rule.claims) }
    await addEvent(tx, by, {
      action: 'trust-remove',
      ...eventOf(patternOf(crate), found),
      detail,
    })
    return rule
  })
}

/** Has the versions of a crate, or of a prefix, come from CI only; returns whether that is new. */
export function setOnly(
  database: Database,
  text: string,
  isOn: boolean,
  change: Change,
): Promise<boolean> {
  const target = patternOf(text)
  const { pattern, name } = target
  return changeCrates(database, target, change, async (tx, by, crate) => {
    const insertion = `INSERT INTO trust_only (pattern, is_prefix) VALUES (?, ?)
      ON CONFLICT DO NOTHING`
    const changed = isOn
      ? await run(tx, insertion, pattern, Number(name === null))
      : await run(tx, 'DELETE FROM trust_only WHERE pattern = ?', pattern)
    if (changed === 0) return false
    const action = isOn ? 'trust-only' : 'trust-only-off'
    await addEvent(tx, by, { action, ...eventOf(target, crate) })
    return true
  })
}

/** Returns the patterns of crates whose versions come from CI only. */
export function listTrustedOnly(db: Queries): Promise<string[]> {
  return column(db, 'SELECT pattern FROM trust_only ORDER BY pattern')
}

/** Makes a change of owners for their crate, and of administrators for all else. */
function changeCrates<T>(
  database: Database,
  { name }: CratePattern,
  change: Change,
  work: (tx: Queries, by: Permitted, crate: Awaited<ReturnType<typeof findCrate>>) => Promise<T>,
): Promise<T> {
  return makeChange(database, change, 'user', async (tx, by) => {
    const crate = name === null ? null : await findCrate(tx, name as string as Name)
    if (crate) await requireOwner(tx, crate, by)
    else if (by.who === 'user' && !by.user.admin) refuse('admin_only')
    return work(tx, by, crate)
  })
}

function patternOf(text: string): CratePattern {
  return parsePattern(text) ?? refuse('rule_pattern_invalid', { pattern: text })
}

const eventOf = ({ pattern }: CratePattern, crate: { readonly name: Name } | null) => ({
  crate: crate?.name ?? pattern,
})

/** Returns a rule; refuses an unknown one. */
export async function requireRule(db: Queries, id: number): Promise<TrustRule> {
  const row = await first<Stored>(db, `SELECT ${RULE} WHERE trust_rules.id = ?`, id)
  return row ? ruleOf(row) : refuse('rule_unknown', { id })
}

/** Returns who owns what a rule creates: nobody where the crate is there. */
async function firstOwner(tx: Queries, order: RuleOrder, crate: Name | null) {
  if (crate !== null && order.owner !== null) refuse('rule_owner_given', { name: crate })
  if (crate !== null) return null
  const login = order.owner ?? refuse('rule_needs_owner')
  const sql = 'SELECT id, locked_at FROM users WHERE canonical = ?'
  const user = await first<Pick<Row<'users'>, 'id' | 'locked_at'>>(tx, sql, login.toLowerCase())
  if (!user) return refuse('login_unknown', { login })
  if (user.locked_at !== null) refuse('user_locked', { login })
  return user.id
}

/** Refuses a token for the ids of a rule that it does not belong to. */
function requireSame(
  wanted: { readonly claims: WantedClaims; readonly pins: readonly Pin[] },
  { kind }: IssuerSettings,
  from: Claims,
): void {
  const different = differences(kind, wanted, from).filter(({ claim }) => claim !== 'event_name')
  refuseErrors(
    different.map(({ claim, was, wanted: values }) =>
      issue('rule_jwt_differs', {
        claim,
        was: was.join(', ') || 'absent',
        wanted: values.join(' or '),
      }),
    ),
  )
}

/** Returns a rule in one line, such as `rule 3 (github: repository=acme/demo)`. */
export function ruleText({ id, issuer, claims }: TrustRule): string {
  return `rule ${id} (${issuer}: ${textsOf(claims).join(' ')})`
}

/** Returns the rules among these that a removed owner wrote for a crate. */
export async function rulesOfWriters(
  db: Queries,
  crateId: number,
  logins: readonly string[],
): Promise<TrustRule[]> {
  const rules = await listRules(db, { crateIds: [crateId] })
  return rules.filter(({ writer }) => writer !== null && logins.includes(writer))
}
