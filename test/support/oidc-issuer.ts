import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { closeServer, listen } from './loopback.ts'
import type { TestRegistry } from './registry.ts'
import { Visitor } from './visitor.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

/** What was asked for with a code. */
export interface Granted {
  readonly nonce: string | null
  readonly claims: JWTPayload
}

export const CLIENT = 'plimsoll'

/** An issuer of logins on this machine, each of whose answers can be broken. */
export class OidcIssuer {
  readonly url: string
  readonly keys: Keys
  readonly #jwk: object
  readonly #codes = new Map<string, Granted>()
  /** What was asked for, by paths, and the forms that were posted. */
  readonly asked: { path: string; body: string }[] = []
  /** Answers a path in place of the issuer. */
  readonly answers = new Map<string, RequestListener>()
  /** More of its discovery document, and of userinfo. */
  discovery: Record<string, unknown> = {}
  userinfo: Record<string, unknown> | null = null
  /** Makes the ID token of a login. */
  sign = (claims: JWTPayload): Promise<string> => this.signed(claims)

  private constructor(url: string, keys: Keys, jwk: object) {
    this.url = url
    this.keys = keys
    this.#jwk = jwk
  }

  static async start(t: Pick<TestContext, 'after'>): Promise<OidcIssuer> {
    const keys = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', chunk => {
        body += chunk
      })
      request.on('end', () => void issuer.#answer(body, request, response))
    })
    const url = await listen(server)
    t.after(() => closeServer(server))
    const issuer: OidcIssuer = new OidcIssuer(url, keys, jwk)
    return issuer
  }

  /** The settings of `[oidc.NAME]` for it. */
  settings(name = 'company', more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const own = { issuer: this.url, client_id: CLIENT, ...more }
    return Object.fromEntries(
      Object.entries(own).map(([key, value]) => [
        `PLIMSOLL_OIDC_${name}_${key}`.toUpperCase(),
        value,
      ]),
    )
  }

  /** Lets somebody in who was sent here: the query with which the browser goes back. */
  grant(location: string, claims: JWTPayload): URLSearchParams {
    const asked = new URL(location)
    assert.equal(asked.origin, this.url)
    const code = `code-${this.#codes.size}`
    this.#codes.set(code, { nonce: asked.searchParams.get('nonce'), claims })
    return new URLSearchParams({ code, state: asked.searchParams.get('state') ?? '' })
  }

  signed(claims: JWTPayload, header: object = {}, key: unknown = this.keys.privateKey) {
    const at = Math.floor(Date.now() / 1000)
    return new SignJWT({ iss: this.url, aud: CLIENT, iat: at, exp: at + 300, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
      .sign(key as Keys['privateKey'])
  }

  async #answer(body: string, ...[request, response]: Parameters<RequestListener>): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*/, '')
    this.asked.push({ path, body })
    const other = this.answers.get(path)
    if (other) return void other(request, response)
    const json = (answer: object, status = 200) =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer))
    if (path === '/.well-known/openid-configuration')
      return json({
        issuer: this.url,
        authorization_endpoint: `${this.url}/authorize`,
        token_endpoint: `${this.url}/token`,
        jwks_uri: `${this.url}/keys`,
        ...(this.userinfo && { userinfo_endpoint: `${this.url}/userinfo` }),
        id_token_signing_alg_values_supported: ['ES256'],
        ...this.discovery,
      })
    if (path === '/keys') return json({ keys: [this.#jwk] })
    if (path === '/userinfo' && this.userinfo) return json(this.userinfo)
    const code = new URLSearchParams(body).get('code') ?? ''
    const granted = this.#codes.get(code)
    if (path !== '/token' || !granted) return json({ error: 'invalid_grant' }, 400)
    this.#codes.delete(code)
    const { nonce, claims } = granted
    const id_token = await this.sign({ ...(nonce !== null && { nonce }), ...claims })
    json({ access_token: 'opaque', token_type: 'Bearer', id_token })
  }
}

const AWAY = { 'sec-fetch-site': 'cross-site' }
const HERE = { 'sec-fetch-site': 'same-origin' }

/** Sends a browser to an issuer; where it is sent. */
export async function sendTo(visitor: Visitor, name = 'company', query = ''): Promise<string> {
  const start = await visitor.get(`/me/oidc/${name}${query}`, HERE)
  assert.equal(start.status, 303, await start.clone().text())
  return start.headers.get('location') ?? ''
}

/** Comes back from an issuer as browsers do: first without cookies, then by the reload. */
export async function comeBack(
  visitor: Visitor,
  query: URLSearchParams | string,
  name = 'company',
): Promise<Response> {
  const path = `/me/oidc/${name}/callback?${query}`
  const kept = new Map(visitor.cookies)
  visitor.cookies.clear()
  const first = await visitor.get(path, AWAY)
  for (const [cookie, value] of kept) visitor.cookies.set(cookie, value)
  const text = await first.text()
  const [, again = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(text) ?? []
  return visitor.get(again.replaceAll('&amp;', '&'), HERE)
}

/** Logs somebody in at the issuer in a new browser, which is asked for. */
export async function logInAt(
  test: TestRegistry,
  issuer: OidcIssuer,
  claims: JWTPayload,
  name = 'company',
): Promise<{ readonly visitor: Visitor; readonly answer: Response }> {
  const visitor = new Visitor(test)
  const answer = await comeBack(visitor, issuer.grant(await sendTo(visitor, name), claims), name)
  return { visitor, answer }
}
