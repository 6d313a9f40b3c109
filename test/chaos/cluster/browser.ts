import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../support/random.ts'
import { BASE } from '../../support/release.ts'
import { Visitor } from '../../support/visitor.ts'
import { isSuccess, putVersion, type Reply } from '../driver/api.ts'
import { DONE } from '../driver/history.ts'
import { crateBytes } from '../driver/lines.ts'
import { ensure } from '../run.ts'
import type { Clients, Field } from './clients.ts'
import type { Machine } from './machine.ts'

/** A user with a password. */
export const BROWSER = { login: 'erin', password: 'correct horse battery' } as const
/** The pause between two tokens, in milliseconds. */
const PAUSE_MS = 1000

/** No daemon answers, or it says that it is away. */
class Away extends Error {}

/** A user who logs in, makes tokens and revokes them, each step through any daemon. */
export class Browser {
  readonly #clients: Clients
  readonly #field: Field
  readonly #random: Random
  readonly #visitor = new Visitor({ app: { request: (url, init) => this.#send(url, init) } })
  /** Tokens that were made, used and revoked. */
  tokens = 0
  logins = 0

  constructor(clients: Clients, field: Field, random: Random) {
    this.#clients = clients
    this.#field = field
    this.#random = random
  }

  /** Works until the clients stop. */
  async work(): Promise<void> {
    for (let at = 0; !this.#clients.isOver; at++) {
      try {
        await this.#token(at)
      } catch (error) {
        if (!(error instanceof Away)) throw error
      }
      await sleep(this.#random.below(PAUSE_MS))
    }
  }

  async #token(at: number): Promise<void> {
    await this.#logIn()
    const made = await this.#visitor.post('/me/tokens', { name: `t-${at}`, access: 'full' })
    const token = /plim_\w{38}/.exec(await made.text())?.[0]
    ensure(token, 'a token is made and not shown')
    const subject = this.#field.journal.add(`t-${at}`)
    const wish = {
      client: 'browser',
      user: BROWSER.login,
      what: 'publish',
      about: '1.0.0',
    } as const
    const machine = this.#any()
    const result = await this.#clients.record(machine, subject, wish, { token })
    ensure(result !== 'refused', `${machine.name} refuses a token that was made`)
    const page = await (await this.#visitor.get('/me')).text()
    const row = new RegExp(`t-${at}<[\\s\\S]*?/me/tokens/(\\d+)/revoke`).exec(page)
    ensure(row, 'a token is not listed')
    await this.#visitor.post(`/me/tokens/${row[1]}/revoke`)
    const later = this.#any()
    const bytes = crateBytes(subject.name, '1.0.1')
    const reply = await this.#clients.patiently(
      later,
      putVersion(later.url, token, subject.name, '1.0.1', bytes),
    )
    ensure(!reply || !isSuccess(reply), `${later.name} takes a token that was revoked`)
    if (result === DONE) this.tokens++
  }

  #any(): Machine {
    const machine = this.#clients.machine(this.#random)
    if (!machine) throw new Away()
    return machine
  }

  /** A session that any daemon has begun every daemon knows. */
  async #logIn(): Promise<void> {
    const home = await (await this.#visitor.get('/me')).text()
    if (home.includes('/me/logout')) return
    ensure(!this.#visitor.cookies.has('plimsoll_session'), 'a daemon does not know a session')
    await this.#visitor.logIn(BROWSER.login, BROWSER.password)
    this.logins++
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    const machine = this.#any()
    const asked = fetch(url.replace(BASE, machine.url), { ...init, redirect: 'manual' })
    const whole = asked.then(async answer => {
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { status: answer.status, bytes, response: new Response(bytes, answer) }
    })
    const reply: (Reply & { readonly response?: Response }) | null = await this.#clients.patiently(
      machine,
      whole.catch(() => null),
    )
    if (!reply?.response || reply.status === 503) throw new Away()
    const text = () =>
      reply.bytes
        .toString()
        .replace(/<[^>]*>/g, '')
        .slice(-2000)
    ensure(reply.status < 400, `${url} is answered with ${reply.status}: ${text()}`)
    return reply.response
  }
}
