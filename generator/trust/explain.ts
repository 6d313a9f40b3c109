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

interface Question {
  readonly claims: Claims
  readonly issuers: readonly IssuerSettings[]
  /** Accepted values of `aud`, by issuer. */
  readonly audiences: (issuer: IssuerSettings) => readonly string[]
  /** The crate that the job wants to publish; null for any. */
  readonly crate: Name | null
  readonly now: Date
}

/**
 * Explains what the rules say of the claims of a token whose signature nobody has checked, to the
 * operator: of all of them. `issues` says why it is not let through.
 */
export async function explain(db: Queries, question: Question) {
  const { claims, issuers, audiences, crate, now } = question
  const iss = textOf(claims, 'iss')
  const issuer = issuers.find(each => each.issuer === iss)
  if (!issuer) return { issuer: null, issues: [issue('jwt_issuer_unknown', { iss })], rules: [] }
  const { name, kind } = issuer
  const unfit = unfitFor(kind, claims)
  const wrong = [...claimIssues(claims, audiences(issuer), now), ...(unfit ? [unfit] : [])]
  const found = crate
    ? (await countingRules(db, canonicalName(crate), now)).rules.filter(
        each => each.issuer === name,
      )
    : await rulesByKey(db, name, tokenKeys(kind, claims), now)
  const rules = found.map(rule => ({ rule, differences: differences(kind, rule, claims) }))
  const isMatched = rules.some(each => each.differences.length === 0)
  const issues = [...wrong, ...(isMatched ? [] : [refusalOf(kind, found, claims)])]
  return { issuer: name, issues, rules }
}
