import { type Issue, issue, Refusal } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import type { IssuerSettings } from '../../core/settings/issuer.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { Claims } from '../../core/trust/claims.ts'
import { jobOf, refusalOf } from '../../core/trust/explain.ts'
import { textOf, unfitFor } from '../../core/trust/kinds.ts'
import { differences, pinsAfter, tokenKeys } from '../../core/trust/rule.ts'
import { hashSecret } from '../accounts/secret.ts'
import type { Database } from '../database/connection.ts'
import { type Queries, run } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted, ruleActor } from '../records/change.ts'
import { requireUnpaused } from '../records/pause.ts'
import { rulesByKey } from './rules.ts'
import { countingRules, makeTrustedToken } from './trusted-tokens.ts'
import { claimIssues, headerIssues, type TrustedIssuers, type VerifiedToken } from './verify.ts'

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

/**
 * Compares the claims of a job with the rules that may let it through, for one crate or, with null,
 * for any: what differs from each, and why none of them does; null if one does.
 */
async function compareRules(
  db: Queries,
  { name, kind }: IssuerSettings,
  claims: Claims,
  crate: Name | null,
  now: Date,
) {
  const found =
    crate === null
      ? await rulesByKey(db, name, tokenKeys(kind, claims), now)
      : (await countingRules(db, canonicalName(crate), now)).rules.filter(
          ({ issuer }) => issuer === name,
        )
  const rules = found.map(rule => ({ rule, differences: differences(kind, rule, claims) }))
  const isMatched = rules.some(each => each.differences.length === 0)
  const refused = unfitFor(kind, claims) ?? (isMatched ? null : refusalOf(kind, found, claims))
  return { rules, refused }
}

/** The claims of a token whose signature nobody has checked, and the crate; null for any. */
interface Question {
  readonly header: Claims
  readonly claims: Claims
  readonly issuers: readonly IssuerSettings[]
  readonly audiences: (issuer: IssuerSettings) => readonly string[]
  readonly crate: Name | null
  readonly now: Date
}

/** Explains to the operator what all rules say of a token; `issues` says why none lets it through. */
export async function explain(db: Queries, question: Question) {
  const { header, claims, issuers, audiences, crate, now } = question
  const iss = textOf(claims, 'iss')
  const issuer = issuers.find(each => each.issuer === iss)
  if (!issuer) return { issuer: null, issues: [issue('jwt_issuer_unknown', { iss })], rules: [] }
  const { rules, refused } = await compareRules(db, issuer, claims, crate, now)
  const unfit = [...headerIssues(header), ...claimIssues(claims, audiences(issuer), now)]
  const issues = [...unfit, ...(refused ? [refused] : [])]
  return { issuer: issuer.name, issues, rules }
}
