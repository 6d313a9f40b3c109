import { refuse } from '../../../core/error/error.ts'
import type { OidcSettings } from '../../../core/settings/oidc.ts'
import { type Claims, claimPath, textsIn, valueAt } from '../../../core/trust/claims.ts'
import { parseClaims } from '../../../core/trust/rule.ts'
import { isGroupName } from '../groups.ts'
import type { OidcPerson } from '../oidc-identities.ts'

const MOST_BYTES = 64 * 1024
const SUBJECT = /^[^\p{Cc}]{1,500}$/u

const firstOf = (claim: string) => claimPath(claim)[0] ?? ''

/** Returns the names of the claims that somebody's login is made of: the first part of a pointer. */
export function claimsOf(issuer: OidcSettings): string[] {
  const { subject_claim: subject, groups_claim: groups, login_claims: logins, require } = issuer
  const required = parseClaims(require).map(([claim]) => claim)
  return [subject, groups, 'name', ...logins, ...required].map(firstOf)
}

/**
 * Returns who has logged in. Each claim is that of the ID token if it has it, else that of
 * userinfo; they are never merged. Refuses whom `require` keeps out, and a login without subject.
 */
export function personOf(issuer: OidcSettings, idToken: Claims, userinfo: Claims): OidcPerson {
  const read = (claim: string) => {
    const source = Object.hasOwn(idToken, firstOf(claim)) ? idToken : userinfo
    return textsIn(valueAt(source, claimPath(claim)))
  }
  for (const [claim, values] of parseClaims(issuer.require))
    if (!read(claim).some(text => values.includes(text))) refuse('oidc_not_required', { claim })
  const { subject_claim: claim, groups_claim } = issuer
  const [subject = '', second] = read(claim)
  if (second !== undefined || !SUBJECT.test(subject)) refuse('oidc_no_subject', { claim })
  const [name = ''] = read('name')
  const isMore = [idToken, userinfo].some(claims => isOverage(claims, firstOf(groups_claim)))
  const groups = [...new Set(read(groups_claim).filter(isGroupName))]
  return {
    issuer,
    subject,
    logins: issuer.login_claims.flatMap(each => read(each).slice(0, 1)),
    name: isGroupName(name) ? name.slice(0, 100) : null,
    groups: isMore || Buffer.byteLength(groups.join('\n')) > MOST_BYTES ? null : groups,
  }
}

/** Whether an issuer says that there are more groups than it sends, as Entra ID does. */
function isOverage(claims: Claims, claim: string): boolean {
  const isLeft = valueAt(claims, ['_claim_names', claim]) !== undefined
  return isLeft || String(valueAt(claims, ['hasgroups'])) === 'true'
}
