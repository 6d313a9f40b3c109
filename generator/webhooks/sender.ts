import { createHmac } from 'node:crypto'
import { refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { WebhookSettings } from '../../core/settings/webhook.ts'
import { readText } from '../places/disk/files.ts'
import { WebFailure } from '../web/failure.ts'
import { isForbiddenAddress, PrivateAddress } from '../web/private-address.ts'
import { Web } from '../web/web.ts'

/** What a receiver gets: the same id on every attempt, and the bytes that are signed. */
export interface Message {
  readonly id: string
  readonly body: string
}

/** An attempt to send a message; nothing of the body of an answer is in it. */
export interface Attempt {
  readonly headers: Readonly<Record<string, string>>
  /** Null without an answer. */
  readonly status: number | null
  /** The pause that the receiver asks for, in milliseconds. */
  readonly after: number | null
  /** What went wrong; null if the receiver took the message. */
  readonly problem: string | null
}

const TIMEOUT_MS = 20_000

/** What an event says in a private registry: no logins, and no text that a user wrote. */
const PRIVATE = ['crate', 'version', 'versions', 'advisory', 'generation']

/** Returns the message of a recorded event, with all of its `data` or only what is not private. */
export function messageOf(
  event: Readonly<Record<'message' | 'type' | 'at' | 'data', string>>,
  isPrivate: boolean,
): Message {
  const all = Object.entries(JSON.parse(event.data) as Record<string, unknown>)
  const data = Object.fromEntries(all.filter(([key]) => !isPrivate || PRIVATE.includes(key)))
  const { message: id, type, at: timestamp } = event
  return { id, body: JSON.stringify({ type, timestamp, data }) }
}

/** Sends messages to one webhook in the form of Standard Webhooks 1.0.0. */
export class Sender {
  readonly #settings: WebhookSettings
  readonly #web: Web

  constructor(
    settings: WebhookSettings,
    { ca_file: caFile, contact }: Settings['outgoing'],
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#settings = settings
    this.#web = new Web({ caFile, contact, env })
    if (settings.private) this.#web.trust(settings.url, false)
  }

  /** Sends a message once, signed by each secret of the file; refuses a file without one. */
  async send({ id, body }: Message, now: Date, timeoutMs = TIMEOUT_MS): Promise<Attempt> {
    const { url } = this.#settings
    const seconds = String(Math.floor(now.getTime() / 1000))
    const signed = `${id}.${seconds}.${body}`
    const keys = await readKeys(this.#settings)
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': keys
        .map(key => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
        .join(' '),
    }
    try {
      const sent = { method: 'POST', headers, body, timeoutMs } as const
      const { status, after } = await this.#web.send(url, sent)
      const problem = status >= 200 && status < 300 ? null : `HTTP status ${status}`
      return { headers, status, after, problem }
    } catch (error) {
      if (!(error instanceof WebFailure)) throw error
      const { message, cause } = error
      const isAllowable = cause instanceof PrivateAddress && !isForbiddenAddress(cause.address)
      const cure = isAllowable
        ? `; \`webhook.${this.#settings.name}.private = true\` allows it`
        : ''
      return { headers, status: null, after: null, problem: message + cure }
    }
  }

  close(): Promise<void> {
    return this.#web.close()
  }
}

/** Reads the secrets of a webhook, for every attempt, so that they can be changed; refuses none. */
async function readKeys({ name, secret_file: path }: WebhookSettings): Promise<Buffer[]> {
  const lines = ((await readText(path)) ?? '').split('\n').map(line => line.trim())
  const keys = lines
    .filter(line => line !== '')
    .map(line => Buffer.from(/^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(line)?.[1] ?? '', 'base64'))
  const isGood = keys.every(({ length }) => length >= 24 && length <= 64)
  return isGood && (keys.length === 1 || keys.length === 2)
    ? keys
    : refuse('webhook_secret', { name, path })
}
