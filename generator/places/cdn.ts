import type { OnFailure } from '../../core/async/on-failure.ts'
import { Repeater } from '../../core/async/repeater.ts'
import { Refusal, refuse } from '../../core/error/error.ts'
import { changedKeys } from '../../core/paths/purge-keys.ts'
import { publicFile } from '../../core/paths/tree.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { readNamedSync } from './disk/files.ts'
import { retried, Transient } from './s3/failure.ts'
import type { TreeChanges } from './sync-batch.ts'

/** Sends requests to other servers; see `Web`. */
export interface Sender {
  /** Trusts a URL with any address, but link-local ones and those of cloud metadata. */
  trust(url: string, hasToken: boolean): void
  send(
    url: string,
    request: {
      readonly method: PurgeSettings['purge_method']
      readonly body: string | null
      readonly headers: Readonly<Record<string, string>>
      readonly timeoutMs: number
    },
  ): Promise<{ readonly status: number }>
  close(): Promise<void>
}

/** How to tell a CDN what has changed; see `docs/run/settings.md`. */
export type PurgeSettings = Omit<Settings['cdn'], 'key_header' | 'purge_url'> & {
  readonly purge_url: string
}

/** How long changes are gathered, and how long a purge that failed waits, in milliseconds. */
const GATHER_MS = 500
const PAUSE_MS = 10_000

/** The most addresses that Cloudflare takes with one request, in every plan. */
const BATCH = 30

const ADDRESS = /\{(?:url|path|urls)\}/
const KEY = /\{keys?\}/
const FILES = '{"files":{urls}}'

/** How long the CDN may be silent, and how long a purge is tried again, in milliseconds. */
const SILENCE_MS = 8000
const BUDGET_MS = 15_000

/** The most addresses or keys that wait. */
const LEFT_MAX = 100_000

/**
 * Tells a CDN which addresses or keys (`core/paths/purge-keys.ts`) have changed, after the answers,
 * so that it asks for them again. Purges pending in a killed process are lost; caches keep those
 * files until they expire.
 */
export class Cdn {
  readonly #settings: PurgeSettings
  readonly #base: string
  readonly #sender: Sender
  readonly #budget: number
  readonly #isByKey: boolean
  /** Paths below the base, or keys. */
  readonly #left = new Set<string>()
  readonly #repeater = new Repeater(() => this.#run())
  #isClosed = false
  /** Receives the error of a purge that failed; it is tried again. */
  onFailure: OnFailure = () => undefined

  /**
   * Refuses a request that would name addresses in one place and keys in the other. `base`: the
   * address of the tree, without a slash at its end; `budget`: how long a purge is tried again.
   */
  constructor(settings: PurgeSettings, base: string, sender: Sender, budget = BUDGET_MS) {
    const request = `${settings.purge_url} ${settings.purge_body ?? ''}`
    this.#isByKey = KEY.test(request)
    if (this.#isByKey && ADDRESS.test(request)) refuse('cdn_mixed')
    this.#settings = settings
    this.#base = base
    this.#sender = sender
    this.#budget = budget
  }

  /** The number of addresses or keys that could not be purged; they are with the next purge. */
  get waiting(): number {
    return this.#left.size
  }

  /** Records changes of the tree, to be purged soon. */
  async update({ files, gone }: TreeChanges): Promise<void> {
    for (const path of files) this.#add(path, null)
    for (const [path, isWhole] of gone) this.#add(path, isWhole ? 'folder' : 'file')
    if (this.#left.size > 0 && this.#repeater.isIdle) this.#repeater.schedule(GATHER_MS)
  }

  #add(path: string, gone: 'file' | 'folder' | null): void {
    const isSame = gone === null && publicFile(path).cache === 'immutable'
    if (isSame || this.#left.size >= LEFT_MAX) return
    const changed = this.#isByKey ? changedKeys(path, gone) : addressesOf(path)
    for (const item of changed) this.#left.add(item)
  }

  /** Sends the waiting purges; refuses when the CDN refuses them. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#repeater.close()
    await this.#purge().finally(() => this.#sender.close())
  }

  async #run(): Promise<number | null> {
    let pause = GATHER_MS
    try {
      await this.#purge()
      this.onFailure.done?.()
    } catch (error) {
      this.onFailure(error)
      pause = PAUSE_MS
    }
    return this.#left.size > 0 ? pause : null
  }

  async #purge(): Promise<void> {
    const isSingle = /\{(?:url|path|key)\}/.test(this.#settings.purge_url)
    const all = [...this.#left]
    for (let at = 0; at < all.length; at += BATCH) {
      const batch = all.slice(at, at + BATCH)
      // Taken out first: a file that changes during the request needs another purge.
      for (const item of batch) this.#left.delete(item)
      try {
        if (isSingle) await Promise.all(batch.map(item => this.#send([item])))
        else await this.#send(batch)
      } catch (error) {
        for (const item of batch) this.#left.add(item)
        throw error
      }
    }
  }

  #urlOf(path: string): string {
    return `${this.#base}/${path.split('/').map(encodeURIComponent).join('/')}`
  }

  /** Returns the address of the request for these; only the first can be in it. */
  #addressFor([first = '']: readonly string[]): string {
    const { purge_url: purgeUrl } = this.#settings
    if (this.#isByKey) return purgeUrl.replaceAll('{key}', () => first)
    const url = this.#urlOf(first)
    return purgeUrl
      .replaceAll('{url}', () => url)
      .replaceAll('{path}', () => url.slice(new URL(url).origin.length + 1))
  }

  #bodyFor(batch: readonly string[]): string | null {
    const { purge_url: purgeUrl, purge_body: body } = this.#settings
    if (body === null && /\{(?:url|path|key)\}/.test(purgeUrl)) return null
    const list = this.#isByKey ? batch : batch.map(path => this.#urlOf(path))
    return (body ?? FILES).replace(/\{(?:urls|keys)\}/, () => JSON.stringify(list))
  }

  async #send(batch: readonly string[]): Promise<void> {
    const { purge_method: method } = this.#settings
    const address = this.#addressFor(batch)
    // The operator has named it, so it may be a private one.
    this.#sender.trust(address, false)
    const body = this.#bodyFor(batch)
    const headers = new Headers(body === null ? {} : { 'content-type': 'application/json' })
    for (const line of await this.#headerLines()) {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? []
      if (name) headers.set(name, value ?? '')
    }
    const sent = { method, headers: Object.fromEntries(headers), body, timeoutMs: SILENCE_MS }
    const attempt = async () => {
      const { status } = await this.#sender.send(address, sent).catch((error: Error) => {
        throw new Transient(error.message)
      })
      if (status === 429 || status >= 500) throw new Transient(String(status))
      // The CDN does not have it.
      if ((status < 200 || status > 299) && status !== 404) refuse('cdn_refuses', { status })
    }
    try {
      await retried(this.#budget, attempt)
    } catch (error) {
      if (error instanceof Refusal || !(error instanceof Transient)) throw error
      refuse('cdn_unreachable', { reason: error.message })
    }
  }

  async #headerLines(): Promise<readonly string[]> {
    const { purge_headers: headersFile } = this.#settings
    if (headersFile === null) return []
    return readNamedSync(headersFile)
      .split('\n')
      .map(line => line.trim())
  }
}

/** Returns the paths under which readers ask for a file: pages are asked for as folders. */
function addressesOf(path: string): string[] {
  const [, folder] = /^(.*\/)?index\.html$/.exec(path) ?? []
  if (!path.endsWith('index.html') || (folder === undefined && path !== 'index.html')) return [path]
  return [folder ?? '', path]
}
