import { createServer, type RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { IssuerKind } from '../../core/settings/issuer.ts'
import { closeServer, listen } from './loopback.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

/** An issuer of tokens for CI jobs, on loopback; what it answers can be broken. */
export class MadeUpIssuer {
  readonly url: string
  readonly keys: Keys
  readonly jwk: Record<string, unknown>
  /** How often each path was asked for. */
  readonly asked = new Map<string, number>()
  /** Answers in place of the issuer. */
  answer: RequestListener | null = null
  now = new Date('2026-11-20T12:00:00Z')

  private constructor(url: string, keys: Keys, jwk: Record<string, unknown>) {
    this.url = url
    this.keys = keys
    this.jwk = jwk
  }

  /** Starts one; it stops with the test. */
  static async start(t: Pick<TestContext, 'after'>, alg = 'RS256'): Promise<MadeUpIssuer> {
    const keys = await keysFor(alg)
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'first', alg, use: 'sig' }
    const server = createServer((request, response) => issuer.#answer(request, response))
    const url = await listen(server)
    t.after(() => closeServer(server))
    const issuer: MadeUpIssuer = new MadeUpIssuer(url, keys, jwk)
    return issuer
  }

  #answer(...[request, response]: Parameters<RequestListener>): void {
    const path = request.url ?? ''
    this.asked.set(path, (this.asked.get(path) ?? 0) + 1)
    if (this.answer) this.answer(request, response)
    else this.answerAsUsual(request, response)
  }

  /** Answers with what it is, or with its keys. */
  answerAsUsual(...[request, response]: Parameters<RequestListener>): void {
    const path = request.url ?? ''
    const body = path.startsWith('/.well-known/')
      ? { issuer: this.url, jwks_uri: `${this.url}/keys` }
      : { keys: [this.jwk] }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }

  /** The settings of `[issuer.NAME]` for it. */
  settings(name: string, kind: IssuerKind): Record<string, string> {
    const start = `PLIMSOLL_ISSUER_${name.toUpperCase()}`
    return { [`${start}_ISSUER`]: this.url, [`${start}_KIND`]: kind }
  }

  /** A token: good for five minutes, unless the claims say otherwise; undefined leaves one out. */
  sign(
    claims: Readonly<Record<string, unknown>>,
    header: Record<string, unknown> = {},
  ): Promise<string> {
    const iat = this.now.getTime() / 1000
    const usual = { iss: this.url, aud: 'crates.test', iat, exp: iat + 300, jti: `t${next++}` }
    const alg = String(this.jwk.alg)
    return new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg, kid: 'first', ...header })
      .sign(this.keys.privateKey)
  }
}

let next = 1

const kept = new Map<string, Promise<Keys>>()

/** The keys of all issuers with an algorithm: to make RSA keys takes longer than most tests. */
function keysFor(alg: string): Promise<Keys> {
  const keys = kept.get(alg) ?? generateKeyPair(alg, { extractable: true })
  kept.set(alg, keys)
  return keys
}
