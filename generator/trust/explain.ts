import { type Issue, issue } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import type { IssuerSettings } from '../../core/settings/issuer.ts'
import type { Claims } from '../../core/trust/claims.ts'
import { refusalOf } from '../../core/trust/explain.ts'
import { textOf, unfitFor } from '../../core/trust/kinds.ts'
import { type Difference, differences, tokenKeys } from '../../core/trust/rule.ts'
import type { Queries } from '../database/statement.ts'
import { rulesByKey, type TrustRule } from './rules.ts'
import { countingRules } from './trusted-tokens.ts'
import { claimIssues } from './verify.ts'

/** What rules say of a token whose signature nobody has checked. */
export interface Explanation {
  readonly issuer: string | null
  /** Why no rule is asked; empty if they are. */
  readonly issues: readonly Issue[]
  readonly rules: readonly {
    readonly rule: TrustRule
    readonly differences: readonly Difference[]
  }[]
  readonly isLetThrough: boolean
}

interface Question {
  readonly claims: Claims
  readonly issuers: readonly IssuerSettings[]
  /** Accepted values of `aud`, by issuer. */
  readonly audiences: (issuer: IssuerSettings) => readonly string[]
  /** The crate that the job wants to publish; null for any. */
  readonly crate: Name | null
  readonly now: Date
}

/** Explains what the rules say of the claims of a token, to the operator: of all of them. */
export async function explain(db: Queries, question: Question): Promise<Explanation> {
  const { claims, issuers, audiences, crate, now } = question
  const iss = textOf(claims, 'iss')
  const issuer = issuers.find(each => each.issuer === iss)
  const nothing = { rules: [], isLetThrough: false }
  if (!issuer) return { issuer: null, issues: [issue('jwt_issuer_unknown', { iss })], ...nothing }
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
  return { issuer: name, issues, rules, isLetThrough: isMatched && issues.length === 0 }
}
