// generator/accounts/oidc: Accounts of an issuer: who has logged in there, and which account that is.
// The daemon calls it, and loads the library only where an issuer is configured.
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client'
import { issue, Refusal, refuse } from '../../../core/error/error.ts'
import type { OidcSettings } from '../../../core/settings/oidc.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { readNamedSync } from '../../places/disk/files.ts'
import { WebFailure } from '../../web/failure.ts'
import { Web } from '../../web/web.ts'
import type { OidcPerson } from '../oidc-identities.ts'
import { claimsOf, personOf } from './claims.ts'

/** A login that was begun: what only the browser that began it may send back. */
export interface OidcPending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** What openid-client has, which is loaded when somebody logs in for the first time. */
type Library = typeof import('openid-client')

const ANSWER_BYTES = 256 * 1024
const ANSWER_MS = 10_000
/** How long the discovery document of an issuer is believed, in milliseconds. */
const FRESH_MS = 10 * 60_000
/** By how many seconds the clock of an issuer may be ahead. */
const SKEW = 60

/** Logs people in at one issuer, by OpenID Connect with code and PKCE. */
export class OidcClient {
  readonly settings: OidcSettings
  readonly #redirect: string
  readonly #web: Web
  readonly #secret: () => string | null
  #found: { readonly at: number; readonly config: Promise<Configuration> } | null = null

  constructor(settings: OidcSettings, redirect: string, web: Web, secret: () => string | null) {
    this.settings = settings
    this.#redirect = redirect
    this.#web = web
    this.#secret = secret
  }

  /** Returns where to send a browser to log in; refuses if the issuer cannot be asked. */
  async begin(): Promise<{ readonly url: string; readonly pending: OidcPending }> {
    return this.#with(async (library, config) => {
      const pending = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      }
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: this.#redirect,
        scope: scopesOf(this.settings).join(' '),
        code_challenge: await library.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        state: pending.state,
        nonce: pending.nonce,
      })
      return { url: url.href, pending }
    })
  }

  /**
   * Returns who has logged in, by the query with which the browser came back. Refuses everything
   * that was not begun by it, not signed by the issuer, or not meant for this registry.
   */
  async finish(query: string, { state, nonce, verifier }: OidcPending): Promise<OidcPerson> {
    return this.#with(async (library, config) => {
      const here = new URL(`${this.#redirect}${query}`)
      const tokens = await library.authorizationCodeGrant(config, here, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims() ?? {}
      const { azp, iat, sub } = claims as { azp?: unknown; iat?: number; sub?: string }
      // The library takes both as they are.
      if (azp !== undefined && azp !== this.settings.client_id)
        refuse('oidc_untrusted', { reason: 'its token is that of another client (azp)' })
      if ((iat ?? 0) > Date.now() / 1000 + SKEW)
        refuse('oidc_untrusted', { reason: 'its token is from the future (iat)' })
      const isWhole = claimsOf(this.settings).every(claim => Object.hasOwn(claims, claim))
      const userinfo =
        isWhole || config.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await library.fetchUserInfo(config, tokens.access_token, sub ?? '')
      return personOf(this.settings, claims, userinfo)
    })
  }

  close(): Promise<void> {
    return this.#web.close()
  }

  async #with<T>(work: (library: Library, config: Configuration) => Promise<T>): Promise<T> {
    const library = await import('openid-client')
    try {
      return await work(library, await this.#configuration(library))
    } catch (error) {
      throw error instanceof Refusal ? error : refusalOf(library, error)
    }
  }

  #configuration(library: Library): Promise<Configuration> {
    const now = Date.now()
    if (this.#found && Math.abs(now - this.#found.at) < FRESH_MS) return this.#found.config
    const config = this.#discover(library)
    this.#found = { at: now, config }
    config.catch(() => {
      this.#found = null
    })
    return config
  }

  async #discover(library: Library): Promise<Configuration> {
    const { issuer, client_id: id } = this.settings
    const secret = this.#secret()
    const { protocol } = new URL(issuer)
    const config = await library.discovery(
      new URL(issuer),
      id,
      secret ?? undefined,
      secret === null ? library.None() : secretBy(library, secret),
      {
        timeout: ANSWER_MS / 1000,
        // Without the checks of signatures, TLS alone would vouch for an ID token.
        execute: [
          library.enableNonRepudiationChecks,
          ...(protocol === 'http:' ? [library.allowInsecureRequests] : []),
        ],
        [library.customFetch]: this.#fetch,
      },
    )
    const { issuer: named } = config.serverMetadata()
    // The library forgives a slash.
    if (named !== issuer)
      refuse('oidc_untrusted', { reason: `it calls itself ${named}, and the settings ${issuer}` })
    return config
  }

  readonly #fetch: CustomFetch = async (url, { method, headers, body }) => {
    const sent = body === undefined || body === null ? {} : { body: String(body) }
    const { status, type, bytes } = await this.#web.exchange(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...sent,
      max: ANSWER_BYTES,
      timeoutMs: ANSWER_MS,
    })
    const isEmpty = bytes.length === 0
    return new Response(isEmpty ? null : bytes, {
      status,
      headers: type === null ? {} : { 'content-type': type },
    })
  }
}

/** Sends the secret in the way that the issuer takes; a header is what all have to (RFC 6749). */
function secretBy(library: Library, secret: string): ClientAuth {
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const ways = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (ways.includes('client_secret_basic') ? basic : post)(server, ...rest)
  }
}

/** What the issuer is asked for: `email` only where a setting names it. */
function scopesOf({ scopes, login_claims: logins, require }: OidcSettings): string[] {
  const named = [...logins, ...require.map(text => text.split('=', 1)[0] ?? '')]
  const mail = named.some(claim => /^email(?:_verified)?$/.test(claim)) ? ['email'] : []
  return [...new Set(['openid', ...scopes, ...mail])]
}

/** Returns the refusal for somebody whose login has failed. */
function refusalOf(library: Library, error: unknown): Refusal {
  if (!(error instanceof Error)) throw error
  const causes = [error]
  for (let each = error.cause; each instanceof Error; each = each.cause) causes.push(each)
  const away = causes.find(cause => cause instanceof WebFailure)
  const { AuthorizationResponseError, ResponseBodyError } = library
  const [code, reason] = away
    ? (['oidc_away', away.message] as const)
    : error instanceof AuthorizationResponseError || error instanceof ResponseBodyError
      ? (['oidc_refused', `${error.error} ${error.error_description ?? ''}`] as const)
      : (['oidc_untrusted', `${error.message}: ${causes.at(-1)?.message}`] as const)
  // One line of a foreign text, short enough for a message.
  const line = reason.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}`]+/gu, ' ').trim()
  return new Refusal([issue(code, { reason: line.slice(0, 200) })], { cause: error })
}

/** Returns the clients of all issuers in the settings, by the names of their sections. */
export function openOidc(
  { settings, urls }: { readonly settings: Settings; readonly urls: { readonly base: string } },
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, OidcClient> {
  const { ca_file: caFile, contact } = settings.outgoing
  return new Map(
    Object.values(settings.oidc).map(issuer => {
      const web = new Web({ caFile, contact, env })
      web.trust(issuer.issuer, false)
      const { client_secret_file: file } = issuer
      // Read for each discovery: a renewed secret needs no restart.
      const secret = () => (file === null ? null : readNamedSync(file).trim())
      const redirect = `${urls.base}/me/oidc/${issuer.name}/callback`
      return [issuer.name, new OidcClient(issuer, redirect, web, secret)]
    }),
  )
}
