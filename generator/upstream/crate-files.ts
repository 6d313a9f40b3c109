import { setTimeout as sleep } from 'node:timers/promises'
import { Flights } from '../../core/async/flights.ts'
import { issue, Refusal, refuse } from '../../core/error/error.ts'
import { type CrateFile, upstreamCratePath } from '../../core/paths/upstream.ts'
import type { UpstreamLine } from '../../core/upstream/line.ts'
import { expandDl } from '../../core/urls/download-url.ts'
import { CONFIG_MAX, isWebTemplate, parseDl } from '../../core/urls/index-config.ts'
import type { CrateStore } from '../places/crate-store.ts'
import { faultOf } from '../sandbox/sandbox.ts'
import { WebFailure } from '../web/failure.ts'
import type { Web } from '../web/web.ts'
import { webUrl } from '../web/web-url.ts'
import type { CrateIndexOptions } from './crate-index.ts'
import { FREE, failureRefusal, IN_VAIN, requireToken, type Spend } from './refusal.ts'

export interface CrateFilesOptions extends Pick<CrateIndexOptions, 'url' | 'counts' | 'now'> {
  readonly store: CrateStore
  readonly web: Pick<Web, 'ask' | 'take'>
  /** How long a caller waits for a running fetch, in milliseconds. */
  readonly waitMs?: number
  readonly crateMax?: number
}

export const CRATE_MAX = 512 * 1024 * 1024

/** Milliseconds for which the upstream's `config.json` is used without asking again. */
const CONFIG_MS = 600_000
const REQUEST_MS = 10_000

/** Milliseconds after which a transfer that still goes on ends: it may drip on purpose. */
const TRANSFER_MS = 1_800_000

/** Seconds after which a client may ask again for a file that is still being fetched. */
const RETRY_SECONDS = 5

/**
 * The `.crate` files of an upstream: fetched when somebody asks, hashed, kept, then served. Bytes
 * with another checksum than the line says, or that no Cargo can use, are never kept.
 */
export class CrateFiles {
  readonly store: CrateStore
  readonly #options: CrateFilesOptions
  readonly #flights = new Flights<number>()
  #dl: { readonly template: string; readonly until: number } | null = null

  constructor(options: CrateFilesOptions) {
    this.#options = options
    this.store = options.store
  }

  size(file: CrateFile): Promise<number | null> {
    return this.store.size(upstreamCratePath(file))
  }

  /**
   * Fetches a `.crate`, and returns its size. Refuses what the upstream does not have or sends
   * wrong, and unless the caller `isPatient`, a fetch that takes too long, which goes on behind it.
   * Refuses to begin one if the caller may `spend` no more requests.
   */
  async fetch(line: CrateFile, isPatient: boolean, spend: Spend = FREE): Promise<number> {
    const { waitMs = 20_000 } = this.#options
    const path = upstreamCratePath(line)
    const { name, version } = line
    const flight = this.#flights.join(path, () => this.#get(path, line, spend))
    // A caller that has stopped waiting asks again.
    flight.catch(() => undefined)
    const late = isPatient ? [] : [sleep(waitMs, null, { ref: false })]
    const size = await Promise.race([flight, ...late])
    if (size !== null) return size
    throw new Refusal([issue('upstream_slow', { name, version })], { retryAfter: RETRY_SECONDS })
  }

  /**
   * Returns the address of a `.crate` at the upstream; `find` looks its line up if the address has
   * the checksum. Null if it finds none, and for an address that is no URL.
   */
  async address(
    release: Pick<UpstreamLine, 'name' | 'version'>,
    find: () => Promise<UpstreamLine | null>,
    spend: Spend = FREE,
  ): Promise<string | null> {
    const template = await this.#asking(release.name, spend, () => this.#template(spend))
    const hasSum = template.includes('{sha256-checksum}')
    const line = hasSum ? await find() : { ...release, cksum: '' }
    return (line && webUrl(expandDl(template, line))?.href) ?? null
  }

  async #get(path: string, line: CrateFile, spend: Spend): Promise<number> {
    const { name, version } = line
    requireToken(spend)
    this.#options.counts.misses++
    return this.#asking(`${name} ${version}`, spend, async () => {
      const size = await this.#receive(path, line)
      if (size !== null) return size
      // A `dl` may have moved since it was read.
      this.#dl = null
      return (await this.#receive(path, line)) ?? refuse('upstream_lacks', { name, version })
    })
  }

  async #receive(path: string, line: CrateFile): Promise<number | null> {
    const { store, web, counts, now, crateMax = CRATE_MAX } = this.#options
    const { name, version, cksum } = line
    const url = expandDl(await this.#template(FREE), line)
    return web.take(url, async bytes => {
      if (bytes === null) return null
      const staged = await store.stage(this.#inTime(bytes, url), crateMax)
      try {
        counts.bytes += staged.size
        if (staged.cksum !== cksum)
          refuse('upstream_bytes', { name, version, cksum, got: staged.cksum })
        const { content, size } = staged
        const reason = await faultOf({ path: content, size, identity: { name, version } })
        if (reason !== null) refuse('upstream_crate', { name, version, reason })
        await staged.keep(path)
        counts.succeeded(now().getTime())
        return size
      } finally {
        await staged.discard()
      }
    })
  }

  async *#inTime(bytes: AsyncIterable<Uint8Array>, url: string): AsyncGenerator<Uint8Array> {
    const { now } = this.#options
    const began = now().getTime()
    for await (const part of bytes) {
      // A clock that was set back gives it no more time.
      if (Math.abs(now().getTime() - began) > TRANSFER_MS)
        throw new WebFailure(url, 'it takes too long')
      yield part
    }
  }

  /** Runs a request to the upstream. Counts an error, and throws it in the words for clients. */
  async #asking<T>(name: string, spend: Spend, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!isOfUpstream(error)) throw error
      this.#options.counts.failed(error)
      spend(IN_VAIN)
      this.#dl = null
      // Worded for the client already.
      if (error instanceof Refusal && error.issues[0].code.startsWith('upstream_')) throw error
      throw failureRefusal(name, error instanceof Refusal ? error.cause : error)
    }
  }

  async #template(spend: Spend): Promise<string> {
    const { web } = this.#options
    const now = this.#options.now().getTime()
    const left = (this.#dl?.until ?? 0) - now
    if (this.#dl && left > 0 && left <= CONFIG_MS) return this.#dl.template
    requireToken(spend)
    const url = `${this.#options.url}config.json`
    const { status, bytes } = await web.ask(url, { max: CONFIG_MAX, timeoutMs: REQUEST_MS })
    if (status !== 200) throw new WebFailure(url, 'it is not there')
    const template = parseDl(bytes.toString('utf8'), url)
    if (!isWebTemplate(template)) throw new WebFailure(url, '`dl` is no web address')
    this.#dl = { template, until: now + CONFIG_MS }
    return template
  }
}

/** Returns whether an error is the upstream's, and not that of a disk here. */
function isOfUpstream(error: unknown): boolean {
  if (!(error instanceof Refusal)) return error instanceof WebFailure
  return error.issues.every(({ code }) => /^(?:import_|upstream_|crate_too_big$)/.test(code))
}
