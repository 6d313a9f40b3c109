import { type Issue, issue, refuse, refuseErrors } from '../../core/error/error.ts'
import type { IssuerSettings } from '../../core/settings/issuer.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { sha256 } from '../../core/sha256.ts'
import { timestamp } from '../../core/timestamp.ts'
import { type Claims, unverified } from '../../core/trust/claims.ts'
import { textOf } from '../../core/trust/kinds.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import { Web } from '../web/web.ts'
import { IssuerKeys } from './keys.ts'

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA']
/** Seconds by which clocks may differ. */
const LEEWAY = 60
const LIFE_MAX = 24 * 3600

/** The claims of a token whose signature is that of its issuer. */
export interface VerifiedToken {
  readonly issuer: IssuerSettings
  readonly claims: Claims
  /** What is the same however the token is written; unique at its issuer. */
  readonly identity: string
  /** When it has expired, in milliseconds since 1970. */
  readonly ends: number
}

export interface IssuersContext {
  readonly settings: Pick<Settings, 'issuer' | 'outgoing'>
  readonly urls: Pick<RegistryUrls, 'api' | 'base'>
  readonly clock: () => Date
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Returns what `aud` may be at an issuer: by default what the official action asks for. */
export function audiencesOf(
  { audience }: Pick<IssuerSettings, 'audience'>,
  { api, base }: IssuersContext['urls'],
): readonly string[] {
  return audience.length > 0 ? audience : [(api ?? base).replace(/^https?:\/\/|\/$/g, '')]
}

/** The issuers of the settings, whose tokens jobs exchange; nothing is fetched before the first. */
export class TrustedIssuers {
  readonly #context: IssuersContext
  readonly #keys = new Map<string, IssuerKeys>()

  constructor(context: IssuersContext) {
    this.#context = context
  }

  /** Returns the claims of a token. Refuses one that its issuer did not make for this registry now. */
  async verify(jwt: string): Promise<VerifiedToken> {
    const { settings, clock } = this.#context
    const said = unverified(jwt)
    if (!said) return invalid('it is not a JWT with claims')
    const iss = textOf(said, 'iss')
    const issuer = Object.values(settings.issuer).find(each => each.issuer === iss)
    if (!issuer) return refuse('jwt_issuer_unknown', { iss })
    const header = unverified(jwt, 0) ?? invalid('it is not a JWT with a header')
    refuseErrors(headerIssues(header))
    const [alg, kid] = [textOf(header, 'alg'), textOf(header, 'kid')]
    const { compactVerify, errors } = await import('jose')
    const key = await this.#keysOf(issuer).find({ alg, kid })
    await compactVerify(jwt, key, { algorithms: ALGORITHMS }).catch(error => {
      if (error instanceof errors.JOSEError || error instanceof TypeError)
        invalid(`${error.message} by the key ${kid} of ${iss}`)
      throw error
    })
    refuseErrors(claimIssues(said, audiencesOf(issuer, this.#context.urls), clock()))
    const [, body = ''] = jwt.split('.')
    const jti = textOf(said, 'jti')
    const identity = sha256(jti === '' ? Buffer.from(body, 'base64url') : `jti ${jti}`)
    return { issuer, claims: said, identity, ends: (Number(said.exp) + LEEWAY) * 1000 }
  }

  #keysOf(issuer: IssuerSettings): IssuerKeys {
    const keys = this.#keys.get(issuer.name)
    if (keys) return keys
    const made = new IssuerKeys(issuer, () => this.#web(issuer), this.#context.clock)
    this.#keys.set(issuer.name, made)
    return made
  }

  /** Opens what asks an issuer: only hosts that the settings name may have private addresses. */
  #web({ issuer, jwks_uri, ca_file }: IssuerSettings): Web {
    const { settings, env } = this.#context
    const { ca_file: usual, contact } = settings.outgoing
    const web = new Web({ caFile: ca_file || usual, contact, env })
    for (const url of [issuer, jwks_uri]) if (url !== '') web.trust(url, false)
    return web
  }
}

function invalid(reason: string): never {
  return refuse('jwt_invalid', { reason })
}

/** Returns why no key can verify a token with this header. */
export function headerIssues({ alg, kid, crit }: Claims): Issue[] {
  // One of these has the payload stand there as it is, which no JWT has (RFC 7797).
  if (crit !== undefined)
    return [
      issue('jwt_invalid', { reason: 'its header has `crit`, and no extension is known here' }),
    ]
  if (!ALGORITHMS.some(each => each === alg))
    return [issue('jwt_invalid', { reason: `its \`alg\` is ${alg}, not ${ALGORITHMS.join(', ')}` })]
  return typeof kid === 'string' ? [] : [issue('jwt_key_missing')]
}

/** Returns why a token is for another registry, over, from the future, or good for too long. */
export function claimIssues(claims: Claims, audiences: readonly string[], now: Date): Issue[] {
  const { aud = 'absent', exp, iat, nbf = 0 } = claims
  const [only, ...others] = [aud].flat()
  const isOurs = others.length === 0 && audiences.some(audience => audience === only)
  const seconds = now.getTime() / 1000
  const [first, last] = [seconds - LEEWAY, seconds + LEEWAY]
  const outside = (claim: string) =>
    `its \`${claim}\` is ${timeOf(claims[claim])}, and it is ${timestamp(now)} here`
  const reason = [
    !isOurs &&
      `its \`aud\` is ${[aud].flat().join(', ')}, and this registry wants ${audiences.join(' or ')} alone`,
    !(typeof exp === 'number' && exp > first) && outside('exp'),
    !(typeof nbf === 'number' && nbf <= last) && outside('nbf'),
    !(typeof iat === 'number' && iat <= last) && outside('iat'),
    Number(exp) - Number(iat) > LIFE_MAX &&
      `its \`exp\` is ${timeOf(exp)}, more than 24 hours after its \`iat\``,
  ].find(each => each !== false)
  return reason === undefined ? [] : [issue('jwt_invalid', { reason })]
}

function timeOf(seconds: unknown): string {
  const isTime = typeof seconds === 'number' && Math.abs(seconds) < 8e12
  return isTime ? timestamp(new Date(seconds * 1000)) : String(seconds ?? 'absent')
}
