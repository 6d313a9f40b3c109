import { type Issue, issue, Refusal } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { jobOf } from '../../core/trust/explain.ts'
import { pinsAfter } from '../../core/trust/rule.ts'
import { hashSecret } from '../accounts/secret.ts'
import type { Database } from '../database/connection.ts'
import { type Queries, run } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted, ruleActor } from '../records/change.ts'
import { requireUnpaused } from '../records/pause.ts'
import { compareRules } from './explain.ts'
import { makeTrustedToken } from './trusted-tokens.ts'
import type { TrustedIssuers, VerifiedToken } from './verify.ts'

/**
 * Gives a job a token of this registry for that of its issuer, which is used up by that, also if
 * it is refused. The token is good for all crates whose rules let the job through.
 */
export async function exchange(
  database: Database,
  issuers: TrustedIssuers,
  jwt: string,
  change: Change,
): Promise<string> {
  await requireUnpaused(database)
  const verified = await issuers.verify(jwt)
  // A refusal is no error of the transaction, which records that the token was used.
  const granted = await makeChange(database, change, 'anybody', async (tx, by) => {
    if (!(await useUp(tx, verified, by))) return issue('jwt_used')
    return grant(tx, verified, by)
  })
  if (typeof granted !== 'string') throw new Refusal([granted])
  return granted
}

/** Ends a token of a job; one that is unknown or has ended is no error. */
export function revoke(database: Database, token: string, change: Change): Promise<void> {
  return makeChange(database, change, 'anybody', async tx => {
    await requireUnpaused(tx)
    await run(tx, 'DELETE FROM trust_tokens WHERE hash = ?', hashSecret(token))
  })
}

async function useUp(tx: Queries, token: VerifiedToken, { at }: Permitted): Promise<boolean> {
  const { issuer, identity, ends } = token
  await requireUnpaused(tx)
  if (issuer.reuse) return true
  await run(tx, 'DELETE FROM trust_used WHERE ends_at < ?', at)
  const sql = `INSERT INTO trust_used (issuer, token, ends_at) VALUES (?, ?, ?)
    ON CONFLICT DO NOTHING`
  return (await run(tx, sql, issuer.issuer, identity, timestamp(new Date(ends)))) > 0
}

async function grant(
  tx: Queries,
  { issuer, claims }: VerifiedToken,
  by: Permitted,
): Promise<string | Issue> {
  const now = new Date(by.at)
  const { rules: compared, refused } = await compareRules(tx, issuer, claims, null, now)
  if (refused) return refused
  const good = compared.filter(each => each.differences.length === 0)
  const rules = good.map(({ rule }) => rule)
  const used = 'UPDATE trust_rules SET used_at = ?, pins = ? WHERE id = ?'
  for (const rule of rules)
    await run(tx, used, by.at, JSON.stringify(pinsAfter(issuer.kind, rule, claims)), rule.id)
  const job = jobOf(issuer, claims)
  const ids = rules.map(rule => rule.id)
  const detail = { rules: ids, ...job }
  await addEvent(tx, { ...by, actor: ruleActor(ids[0] ?? 0) }, { action: 'trust-exchange', detail })
  return makeTrustedToken(tx, { rules: ids, job }, now)
}
