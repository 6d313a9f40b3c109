import { type Issue, issue, refuse, refuseErrors } from '../../core/error/error.ts'
import { type CanonicalName, canonicalPattern, type Name } from '../../core/name.ts'
import { type IssuerSettings, isShared } from '../../core/settings/issuer.ts'
import { sectionOf } from '../../core/settings/named.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { Claims } from '../../core/trust/claims.ts'
import {
  differences,
  pinsAfter,
  ruleIssues,
  ruleKeys,
  textsOf,
  type Wanted,
  type WantedClaims,
} from '../../core/trust/rule.ts'
import { requireUser } from '../accounts/accounts.ts'
import { resolveGroup } from '../accounts/groups.ts'
import type { Database } from '../database/connection.ts'
import { insert, insertAll, type Queries, type Row, run, value } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted } from '../records/change.ts'
import { type CrateRecord, findCrate } from '../records/crates.ts'
import { GROUP } from '../records/groups.ts'
import { requireOwner } from '../records/owners.ts'
import { requireRule, type TrustRule, trustedOnlyBy } from './rules.ts'

/** A crate may have this many, and a name or prefix, too. */
const RULES_MAX = 20

/** A rule to be written. */
export interface RuleOrder {
  /** A crate, or a prefix and `*`. */
  readonly crate: string
  readonly issuer: string
  readonly claims: WantedClaims
  /** The first owner of crates that it creates: a login, or a group as `group:NAME`. */
  readonly owner: string | null
  /** The claims of a token from which ids are taken. */
  readonly from?: Claims | null
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
  const name = order.issuer
  const issuer = sectionOf(settings.issuer, name) ?? refuse('issuer_unknown', { name })
  const { kind } = issuer
  const issues = ruleIssues(kind, isShared(issuer), order.claims)
  refuseErrors(issues)
  const wanted = { claims: order.claims, pins: [] }
  const from = order.from ?? null
  if (from) requireSame(wanted, issuer, from)
  const pins = from ? pinsAfter(kind, wanted, from) : []
  const pattern = patternOf(order.crate)
  const rule = await changeCrates(database, pattern, change, async (tx, by, crate) => {
    const owner = await firstOwner(tx, order, crate?.name ?? null, settings)
    const shown = crate?.name ?? pattern
    const same = 'SELECT count(*) FROM trust_rules WHERE pattern = ? AND coalesce(crate_id, 0) = ?'
    if (Number(await value(tx, same, pattern, crate?.id ?? 0)) >= RULES_MAX)
      refuse('rules_too_many', { max: RULES_MAX, kind })
    const id = await insert(tx, 'trust_rules', {
      issuer: issuer.name,
      name: crate?.name ?? order.crate,
      pattern,
      crate_id: crate?.id ?? null,
      claims: JSON.stringify(order.claims),
      pins: JSON.stringify(pins),
      ...owner,
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
    await addEvent(tx, by, { action: 'trust-add', crate: shown, detail })
    return requireRule(tx, id)
  })
  return { rule, warnings: issues }
}

/** Removes a rule: whoever may write it may remove it. Refuses an unknown one. */
export async function dropRule(
  database: Database,
  number: number | string,
  change: Change,
): Promise<TrustRule> {
  const { id, crate } = await requireRule(database, number)
  return changeCrates(database, patternOf(crate), change, async (tx, by, found) => {
    const rule = await requireRule(tx, id)
    await run(tx, 'DELETE FROM trust_keys WHERE rule_id = ?', id)
    await run(tx, 'DELETE FROM trust_rules WHERE id = ?', id)
    const detail = { rule: id, issuer: rule.issuer, claims: textsOf(rule.claims) }
    await addEvent(tx, by, { action: 'trust-remove', crate: found?.name ?? rule.pattern, detail })
    return rule
  })
}

/**
 * Has the versions of a crate, or of a prefix, come from CI only; returns whether that is new.
 * Refuses to end that where a shorter prefix says so.
 */
export function setOnly(
  database: Database,
  text: string,
  isOn: boolean,
  change: Change,
): Promise<boolean> {
  const pattern = patternOf(text)
  return changeCrates(database, pattern, change, async (tx, by, crate) => {
    const insertion = `INSERT INTO trust_only (pattern, is_prefix) VALUES (?, ?)
      ON CONFLICT DO NOTHING`
    const changed = isOn
      ? await run(tx, insertion, pattern, Number(pattern.endsWith('*')))
      : await run(tx, 'DELETE FROM trust_only WHERE pattern = ?', pattern)
    const wider = pattern.replace('*', '') as CanonicalName
    const still = isOn ? null : await trustedOnlyBy(tx, wider)
    if (still !== null) refuse('trusted_only', { name: crate?.name ?? pattern, pattern: still })
    if (changed === 0) return false
    const action = isOn ? 'trust-only' : 'trust-only-off'
    await addEvent(tx, by, { action, crate: crate?.name ?? pattern })
    return true
  })
}

/** Makes a change of owners for their crate, and of administrators for all else. */
function changeCrates<T>(
  database: Database,
  pattern: string,
  change: Change,
  work: (tx: Queries, by: Permitted, crate: CrateRecord | null) => Promise<T>,
): Promise<T> {
  return makeChange(database, change, 'user', async (tx, by) => {
    const crate = pattern.endsWith('*') ? null : await findCrate(tx, pattern as Name)
    if (crate) await requireOwner(tx, crate, by)
    else if (by.who === 'user' && !by.user.admin) refuse('admin_only')
    return work(tx, by, crate)
  })
}

function patternOf(text: string): string {
  return canonicalPattern(text) ?? refuse('rule_pattern_invalid', { pattern: text })
}

/** Returns who owns what a rule creates: nobody where the crate is there. */
async function firstOwner(
  tx: Queries,
  { owner }: RuleOrder,
  crate: Name | null,
  { oidc }: Settings,
): Promise<Pick<Row<'trust_rules'>, 'owner_id' | 'owner_group'>> {
  const nobody = { owner_id: null, owner_group: null }
  if (crate !== null && owner !== null) refuse('rule_owner_given', { name: crate })
  if (crate !== null) return nobody
  if (owner === null) return refuse('rule_needs_owner')
  if (owner.startsWith(GROUP))
    return { ...nobody, owner_group: (await resolveGroup(tx, owner.slice(GROUP.length), oidc)).id }
  const { id, login, locked } = await requireUser(tx, owner)
  return locked ? refuse('user_locked', { login }) : { ...nobody, owner_id: id }
}

/** Refuses a token for the ids of a rule that it does not belong to. */
function requireSame(wanted: Wanted, { kind }: IssuerSettings, from: Claims): void {
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
