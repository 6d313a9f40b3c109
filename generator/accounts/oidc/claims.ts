import { refuse } from '../../../core/error/error.ts'
import type { OidcSettings } from '../../../core/settings/oidc.ts'
import { isGroupName } from '../groups.ts'
import type { OidcPerson } from '../oidc-identities.ts'

type Claims = Readonly<Record<string, unknown>>

const MOST_BYTES = 64 * 1024
const SUBJECT = /^[^\p{Cc}]{1,500}$/u

/** Returns the names of the claims that somebody's login is made of: the first part of a pointer. */
export function claimsOf(issuer: OidcSettings): string[] {
  const { subject_claim: subject, groups_claim: groups, login_claims: logins, require } = issuer
  const required = conditionsOf(require).map(([claim]) => claim)
  return [subject, groups, 'name', ...logins, ...required].map(claim => pathOf(claim)[0] ?? '')
}

/** Returns what must hold: each claim with the values that will do. */
function conditionsOf(require: readonly string[]): [claim: string, values: string[]][] {
  const found = new Map<string, string[]>()
  for (const text of require) {
    const at = text.indexOf('=')
    const [claim, value] = [text.slice(0, at), text.slice(at + 1)]
    found.set(claim, [...(found.get(claim) ?? []), value])
  }
  return [...found]
}

/**
 * Returns who has logged in. Each claim is that of the ID token if it has it, else that of
 * userinfo; they are never merged. Refuses whom `require` keeps out, and a login without subject.
 */
export function personOf(issuer: OidcSettings, idToken: Claims, userinfo: Claims): OidcPerson {
  const read = (claim: string) => {
    const [first = '', ...rest] = pathOf(claim)
    let value: unknown = own(Object.hasOwn(idToken, first) ? idToken : userinfo, first)
    for (const key of rest) value = own(value, key)
    return value
  }
  for (const [claim, values] of conditionsOf(issuer.require)) {
    const there = textsIn(read(claim))
    if (!values.some(value => there.includes(value))) refuse('oidc_not_required', { claim })
  }
  const claim = issuer.subject_claim
  const [subject = '', second] = textsIn(read(claim))
  if (second !== undefined || !SUBJECT.test(subject)) refuse('oidc_no_subject', { claim })
  const [name = ''] = textsIn(read('name'))
  const isMore = [idToken, userinfo].some(claims => isOverage(claims, issuer.groups_claim))
  const groups = [...new Set(textsIn(read(issuer.groups_claim)).filter(isGroupName))]
  return {
    issuer,
    subject,
    logins: issuer.login_claims.flatMap(each => textsIn(read(each)).slice(0, 1)),
    name: isGroupName(name) ? name.slice(0, 100) : null,
    groups: isMore || Buffer.byteLength(groups.join('\n')) > MOST_BYTES ? null : groups,
  }
}

/** Whether an issuer says that there are more groups than it sends, as Entra ID does. */
function isOverage(claims: Claims, claim: string): boolean {
  const left = own(claims, '_claim_names')
  const isLeft = own(left, pathOf(claim)[0] ?? '') !== undefined
  return isLeft || String(own(claims, 'hasgroups')) === 'true'
}

/** Returns the keys that lead to a claim: those of a JSON pointer (RFC 6901), or the name alone. */
function pathOf(claim: string): string[] {
  if (!claim.startsWith('/')) return [claim]
  const keys = claim.slice(1).split('/')
  return keys.map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Claims)[key]
}

/** Returns a claim as texts: its items, or itself; what is neither text, number nor truth is none. */
function textsIn(value: unknown): string[] {
  return [value]
    .flat()
    .filter(item => ['string', 'number', 'boolean'].includes(typeof item))
    .map(String)
}
