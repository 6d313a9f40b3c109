import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../test/support/random.ts'
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

/** A user who logs in, makes tokens and revokes them, each step through any daemon. */
export class Browser {
  readonly #clients: Clients
  readonly #field: Field
  readonly #random: Random
  readonly #cookies = new Map<string, string>()
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
      await this.#token(at)
      await sleep(this.#random.below(PAUSE_MS))
    }
  }

  async #token(at: number): Promise<void> {
    if (!(await this.#isLoggedIn())) return
    const made = await this.#post('/me/tokens', { name: `t-${at}`, access: 'full' })
    const token = /plim_\w{38}/.exec(made?.text ?? '')?.[0]
    // The answer was lost, so nobody knows the token.
    if (made?.status !== 200 || !token) return
    const subject = this.#field.journal.add(`t-${at}`)
    const machine = this.#clients.machine(this.#random)
    if (!machine) return
    const wish = {
      client: 'browser',
      user: BROWSER.login,
      what: 'publish',
      about: '1.0.0',
    } as const
    const result = await this.#clients.record(machine, subject, wish, { token })
    ensure(result !== 'refused', `${machine.name} refuses a token that was made`)
    const page = await this.#send(this.#any(), '/me', {})
    const row = new RegExp(`t-${at}<[\\s\\S]*?/me/tokens/(\\d+)/revoke`).exec(page?.text ?? '')
    if (!row) return
    const revoked = await this.#post(`/me/tokens/${row[1]}/revoke`, {})
    if (revoked?.status !== 303) return
    const later = this.#any()
    if (!later) return
    const bytes = crateBytes(subject.name, '1.0.1')
    const reply = await this.#clients.patiently(
      later,
      putVersion(later.url, token, subject.name, '1.0.1', bytes),
    )
    ensure(!reply || !isSuccess(reply), `${later.name} takes a token that was revoked`)
    if (result === DONE) this.tokens++
  }

  #any(): Machine | null {
    return this.#clients.machine(this.#random)
  }

  /** A session that any daemon has begun every daemon knows. */
  async #isLoggedIn(): Promise<boolean> {
    const machine = this.#any()
    const home = await this.#send(machine, '/me', {})
    if (home?.status !== 200) return false
    if (home.text.includes('/me/logout')) return true
    ensure(!this.#cookies.has('plimsoll_session'), `${machine?.name} does not know a session`)
    const answer = await this.#post('/me/login', BROWSER)
    if (answer?.status !== 303) return false
    this.logins++
    return true
  }

  async #post(path: string, fields: Record<string, string>): Promise<Page | null> {
    const form = await this.#send(this.#any(), '/me', {})
    const csrf = /name="csrf" value="([^"]+)"/.exec(form?.text ?? '')?.[1]
    if (csrf === undefined) return null
    const body = new URLSearchParams({ csrf, ...fields })
    const page = await this.#send(this.#any(), path, { method: 'POST', body })
    ensure(
      page === null || page.status < 400 || page.status === 503,
      `${path} is answered with ${page?.status}: ${page?.text.replace(/<[^>]*>/g, '').slice(-2000)}`,
    )
    return page
  }

  async #send(machine: Machine | null, path: string, init: RequestInit): Promise<Page | null> {
    if (!machine) return null
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', ...(cookie && { cookie }) }
    const asked = fetch(`${machine.url}${path}`, { redirect: 'manual', ...init, headers })
    const answer: Promise<Page & Reply> = asked.then(async response => {
      const bytes = Buffer.from(await response.arrayBuffer())
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        this.#cookies.set(name, value)
      }
      return { status: response.status, bytes, text: bytes.toString() }
    })
    return (await this.#clients.patiently(
      machine,
      answer.catch(() => null),
    )) as Page | null
  }
}

interface Page {
  readonly status: number
  readonly text: string
}
