import assert from 'node:assert/strict'
import { findUser } from '../../generator/accounts/accounts.ts'
import { setPassword } from '../../generator/accounts/credentials.ts'
import { startSession } from '../../generator/accounts/sessions.ts'
import { operatorChange } from '../../generator/records/change.ts'
import type { TestRegistry } from './registry.ts'
import { BASE } from './release.ts'

/** The password of everybody in tests. */
export const PASSWORD = 'correct horse battery'

type Fields = Readonly<Record<string, string | readonly string[]>>

/** The target of a browser's requests. */
export interface Site {
  readonly app: {
    request(url: string, init: RequestInit, env: object): Response | Promise<Response>
  }
}

/** A browser, from the daemon's view: cookies, and forms that are sent as the page has them. */
export class Visitor {
  readonly cookies = new Map<string, string>()
  readonly #test: Site
  /** Headers of every request. */
  readonly headers: Record<string, string>
  /** The source address of requests. */
  address = '192.0.2.1'

  constructor(test: Site, headers: Record<string, string> = {}) {
    this.#test = test
    this.headers = headers
  }

  /** Asks for a page, without following where it leads. */
  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(path, { headers })
  }

  /**
   * Posts fields; the proof that forms carry comes from the page of the path, which is loaded
   * before.
   */
  async post(
    path: string,
    fields: Fields = {},
    { from = '/me', headers = {} }: { from?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const csrf = await this.proof(from)
    return this.send(path, { method: 'POST', headers, body: form({ csrf, ...fields }) })
  }

  /** The hidden fields of a page's forms. */
  async proof(path = '/me'): Promise<string> {
    const text = await (await this.get(path)).text()
    return (
      /name="csrf" value="([^"]+)"/.exec(text)?.[1] ??
      assert.fail(`${path} has no form: ${text.slice(0, 500)}`)
    )
  }

  /** Sends a request with the cookies, and keeps those of the answer. */
  async send(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = new Headers({ accept: 'text/html', ...this.headers, ...(cookie && { cookie }) })
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value)
    const env = { incoming: { socket: { remoteAddress: this.address } } }
    const response = await this.#test.app.request(`${BASE}${path}`, { ...init, headers }, env)
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }

  /** Logs in; gives the answer. */
  logIn(login: string, password = PASSWORD): Promise<Response> {
    return this.post('/me/login', { login, password })
  }
}

/** Fields as a form sends them. */
export function form(fields: Fields): URLSearchParams {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(fields))
    for (const item of [value].flat()) body.append(name, item)
  return body
}

/** Gives a user the password of everybody in tests. */
export async function withPassword(
  test: TestRegistry,
  login: string,
  password = PASSWORD,
): Promise<void> {
  const user = await findUser(test.registry.database, login)
  assert.ok(user)
  const secret = { password, cost: test.registry.settings.auth.password_cost }
  await setPassword(test.registry.database, user, secret, operatorChange('2026-11-20T12:00:00Z'))
}

/** A browser in which a user is logged in. */
export async function loggedIn(
  test: TestRegistry,
  login: string,
  headers?: Record<string, string>,
): Promise<Visitor> {
  const user = await findUser(test.registry.database, login)
  assert.ok(user)
  const visitor = new Visitor(test, headers)
  const change = { ...operatorChange('2026-11-20T12:00:00Z'), actor: login }
  const order = { agent: 'Test 1', now: test.now, seconds: 3600 }
  const session = await startSession(test.registry.database, user.id, order, change)
  visitor.cookies.set('plimsoll_session', session)
  return visitor
}
