import { issue } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import type { IssuerSettings } from '../../core/settings/issuer.ts'
import type { Claims } from '../../core/trust/claims.ts'
import { refusalOf } from '../../core/trust/explain.ts'
import { textOf, unfitFor } from '../../core/trust/kinds.ts'
import { differences, tokenKeys } from '../../core/trust/rule.ts'
import type { Queries } from '../database/statement.ts'
import { rulesByKey } from './rules.ts'
import { countingRules } from './trusted-tokens.ts'
import { claimIssues } from './verify.ts'

/**
 * Compares the claims of a job with the rules that may let it through, for one crate or, with null,
 * for any: what differs from each, and why none of them does; null if one does.
 */
export async function compareRules(
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
  readonly claims: Claims
  readonly issuers: readonly IssuerSettings[]
  readonly audiences: (issuer: IssuerSettings) => readonly string[]
  readonly crate: Name | null
  readonly now: Date
}

/** Explains to the operator what all rules say of a token; `issues` says why none lets it through. */
export async function explain(db: Queries, question: Question) {
  const { claims, issuers, audiences, crate, now } = question
  const iss = textOf(claims, 'iss')
  const issuer = issuers.find(each => each.issuer === iss)
  if (!issuer) return { issuer: null, issues: [issue('jwt_issuer_unknown', { iss })], rules: [] }
  const { rules, refused } = await compareRules(db, issuer, claims, crate, now)
  const issues = [claimIssues(claims, audiences(issuer), now), refused ?? []].flat()
  return { issuer: issuer.name, issues, rules }
}
