import { refuse } from '../../core/error/error.ts'
import { type CanonicalName, canonicalName, type Name, patternsOf } from '../../core/name.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { Job } from '../../core/trust/job.ts'
import { type Accounts, acting } from '../accounts/accounts.ts'
import { hashSecret } from '../accounts/secret.ts'
import { makeToken, type Rejection, type Scope } from '../accounts/tokens.ts'
import { type Condition, first, one, type Queries, run } from '../database/statement.ts'
import { type Change, type RuleGrant, ruleActor } from '../records/change.ts'
import { type CrateRecord, crateMaker } from '../records/crates.ts'
import type { OwnerRef } from '../records/groups.ts'
import { mayAct } from '../records/owners.ts'
import { listRules, rulesFor, type TrustRule } from './rules.ts'

/** How long a job may publish. */
const SECONDS = 30 * 60

const SCOPES: readonly Scope[] = ['publish-new', 'publish-update', 'read']

/** The holder of a token that a job got for that of its issuer. */
export interface TrustedHolder {
  readonly who: 'rule'
  readonly tokenId: number
  /** The rules that let the job through when it got the token. */
  readonly rules: readonly number[]
  readonly scopes: readonly Scope[]
  readonly crates: null
}

/** Gives a job a token for 30 minutes; drops those that have expired. */
export async function makeTrustedToken(
  tx: Queries,
  { rules, job }: { readonly rules: readonly number[]; readonly job: Job },
  now: Date,
): Promise<string> {
  const token = makeToken('plim_tp_')
  await run(tx, 'DELETE FROM trust_tokens WHERE expires_at < ?', timestamp(now))
  const sql = `INSERT INTO trust_tokens (hash, rules, job, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?)`
  const times = [timestamp(now), timestamp(now, SECONDS)]
  const texts = [JSON.stringify(rules), JSON.stringify(job)]
  await run(tx, sql, hashSecret(token), ...texts, ...times)
  return token
}

/** Tokens that have not expired, and that no wrong clock made. */
const VALID = 'FROM trust_tokens WHERE expires_at > ? AND created_at <= ?'

/** Returns the holder of a token of a job, or why there is none. */
export async function authenticateTrusted(
  db: Queries,
  token: string,
  now: Date,
): Promise<TrustedHolder | Rejection> {
  const sql = `SELECT id, rules ${VALID} AND hash = ?`
  const times = [timestamp(now), latest(now)]
  const row = await first<{ id: number; rules: string }>(db, sql, ...times, hashSecret(token))
  if (!row) return { code: 'trusted_token_rejected', at: '' }
  const rules = JSON.parse(row.rules) as number[]
  return { who: 'rule', tokenId: row.id, rules, scopes: SCOPES, crates: null }
}

/**
 * Returns the change of a job that publishes a crate; whether it may is asked now, and again when
 * the change is made. Refuses a crate that no rule of the token lets it publish.
 */
export async function trustedChange(
  { database, settings, clock }: Accounts & { readonly clock: () => Date },
  {
    tokenId,
    address = null,
  }: Pick<TrustedHolder, 'tokenId'> & { readonly address?: string | null },
  name: Name,
): Promise<Change> {
  const canonical = canonicalName(name)
  const stillMay = async (db: Queries): Promise<RuleGrant> => {
    const now = clock()
    const sql = `SELECT rules, job ${VALID} AND id = ?`
    type Found = { rules: string; job: string }
    const token = await first<Found>(db, sql, timestamp(now), latest(now), tokenId)
    if (!token) return refuse('trusted_token_rejected')
    const { rules, isNew } = await countingRules(db, canonical, now)
    const mine = JSON.parse(token.rules) as number[]
    const rule = rules.find(each => mine.includes(each.id))
    if (!rule) return refuse('trusted_token_crate', { name })
    const owner = isNew ? await firstOwner(db, rule, acting(settings, now), timestamp(now)) : null
    const job = JSON.parse(token.job) as Job
    return { rule: rule.id, crate: canonical, owner, job }
  }
  const grant = await stillMay(database)
  const actor = ruleActor(grant.rule)
  return { at: timestamp(clock()), who: 'rule', actor, address, grant, stillMay }
}

/** Returns the rules of a crate, also ended ones, after that which has created it, if it counts. */
export async function rulesShown(db: Queries, crate: CrateRecord, now: Date): Promise<TrustRule[]> {
  const { rules } = await countingRules(db, canonicalName(crate.name), now)
  const maker = rules.filter(({ crateId }) => crateId === null)
  return [...maker, ...(await listRules(db, { crateIds: [crate.id] }))]
}

/**
 * Returns the rules that count for a crate now: its own; without any, the one that has created it.
 * For a name that is not there, those with the narrowest pattern.
 */
export async function countingRules(db: Queries, name: CanonicalName, now: Date) {
  const crate = await crateMaker(db, name)
  const patterns = patternsOf(name)
  const rules = await rulesFor(db, { crateId: crate?.id ?? null, patterns }, now)
  const narrow = patterns.find(each => rules.some(({ pattern }) => pattern === each))
  const isCounting = ({ id, crateId, pattern }: TrustRule) =>
    crate ? crateId !== null || id === crate.rule : pattern === narrow
  return { rules: rules.filter(isCounting), isNew: crate === null }
}

/** Refuses a rule whose first owner of new crates could do nothing for them. */
async function firstOwner(
  db: Queries,
  { id, owner: login }: TrustRule,
  may: Condition,
  at: string,
): Promise<OwnerRef> {
  const sql = 'SELECT owner_id AS "user", owner_group AS "group" FROM trust_rules WHERE id = ?'
  const { user, group } = await one<Record<'user' | 'group', number | null>>(db, sql, id)
  const owner = group === null ? { user: user ?? 0 } : { group }
  if (await mayAct(db, owner, may, at)) return owner
  return refuse('rule_owner_locked', { login: login ?? '', rule: id })
}
