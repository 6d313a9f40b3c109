/**
 * Replaces HTTP to the object storage of a simulation, below the client: requests arrive later,
 * their answers later still, or never.
 */
import { EventEmitter } from 'node:events'
import http, { type IncomingHttpHeaders } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { Readable, Writable } from 'node:stream'
import type { Random } from '../../support/random.ts'
import {
  type Answer,
  failure,
  type ObjectStorage,
  type StorageRequest,
} from '../../support/s3/storage.ts'
import type { Fate } from './network.ts'
import { currentProcess, type VirtualProcess } from './process.ts'

/** The name by which the object storage is known. */
export const BUCKET_HOST = 'bucket.simulated'

/** The options of a request to the object storage. */
interface Options {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | number>>
}

/** The object storage, and its work for an arrived request. */
export interface Storage {
  readonly objects: ObjectStorage
  /** Performs a request. */
  answer(request: StorageRequest, body: Buffer): Answer
}

/** The connection of a request; it only tells the time since the request began. */
class VirtualSocket extends EventEmitter {
  readonly connecting = false
  readonly bytesRead = 0
  #timer: NodeJS.Timeout | undefined

  setTimeout(ms: number, silent?: () => void): this {
    clearTimeout(this.#timer)
    if (silent) this.once('timeout', silent)
    if (ms > 0) this.#timer = setTimeout(() => this.emit('timeout'), ms)
    return this
  }

  setKeepAlive(): this {
    return this
  }

  destroy(): void {
    clearTimeout(this.#timer)
  }
}

/** A request on its way, in place of that of `node:http`. */
class VirtualRequest extends Writable {
  readonly socket = new VirtualSocket()
  readonly #options: Options
  readonly #process: VirtualProcess
  readonly #storage: Storage
  readonly #parts: Buffer[] = []
  /** Whether the answer has come, or nobody waits for it. */
  #isOver = false

  constructor(options: Options, process: VirtualProcess, storage: Storage) {
    // It lives until its answer is there.
    super({ autoDestroy: false })
    this.#options = options
    this.#process = process
    this.#storage = storage
  }

  override _write(part: Buffer, _: BufferEncoding, done: () => void): void {
    this.#parts.push(part)
    done()
  }

  override _final(done: () => void): void {
    this.#send()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#end()
    done(error)
  }

  #send(): void {
    const { method, path, headers } = this.#options
    const url = new URL(path, `http://${BUCKET_HOST}`)
    const [, , ...names] = url.pathname.split('/').map(decodeURIComponent)
    const arrived: StorageRequest = {
      method,
      key: names.join('/'),
      query: url.searchParams,
      headers: headers as IncomingHttpHeaders,
    }
    const what = `${method} ${arrived.key}${url.search}`
    this.#plan(`to bucket: ${what}`, null, fate => this.#arrive(arrived, what, fate))
  }

  #arrive(arrived: StorageRequest, what: string, fate: Fate): void {
    if (fate === 'cut') return void this.#break()
    const answer =
      fate === 'busy'
        ? failure(503, 'SlowDown')
        : this.#storage.answer(arrived, Buffer.concat(this.#parts))
    if (fate === 'lost') return void this.#break()
    this.#plan(`from bucket: ${what} ${answer.status}`, this.#process, () => {
      if (this.#isOver) return
      this.#end()
      this.emit('response', new VirtualAnswer(answer, this.#options.method))
    })
  }

  /** The connection breaks, and the client learns it. */
  #break(): void {
    const { timeline } = this.#process.world
    timeline.plan(
      'from bucket: ECONNRESET',
      this.#process,
      () => 1,
      () => {
        const error = new Error('read ECONNRESET')
        if (!this.#isOver) this.destroy(Object.assign(error, { code: 'ECONNRESET' }))
      },
    )
  }

  #plan(key: string, process: VirtualProcess | null, work: (fate: Fate) => void): void {
    const { network, timeline } = this.#process.world
    let fate: Fate = 'good'
    const when = (random: Random) => {
      if (process === null) fate = network.fate(random, this.#process, 'bucket')
      return network.delay(random, this.#process, 'bucket')
    }
    timeline.plan(`${key} for ${this.#process.name}`, process, when, () => work(fate))
  }

  #end(): void {
    this.#isOver = true
    this.socket.destroy()
  }
}

/** An answer as `node:http` gives it. */
class VirtualAnswer extends Readable {
  readonly socket = new VirtualSocket()
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
  readonly #body: Buffer

  constructor({ status, headers, body }: Answer, method: string) {
    super()
    const bytes = Buffer.from(body ?? '')
    this.statusCode = status
    this.headers = { 'content-length': String(bytes.length), ...headers }
    this.#body = method === 'HEAD' ? Buffer.alloc(0) : bytes
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy()
    done(error)
  }

  override _read(): void {
    if (this.#body.length > 0) this.push(this.#body)
    this.push(null)
  }
}

/** Leads requests of simulated processes to `storage()`; returns a function that undoes it. */
export function replaceRequests(storage: () => Storage): () => void {
  const { request } = http
  const replaced = (options: Options, ...rest: unknown[]) => {
    const process = currentProcess()
    if (process && options.host === BUCKET_HOST)
      return new VirtualRequest(options, process, storage()).once('response', rest[0] as () => void)
    return (request as (...args: unknown[]) => unknown)(options, ...rest)
  }
  http.request = replaced as unknown as typeof request
  syncBuiltinESMExports()
  return () => {
    http.request = request
    syncBuiltinESMExports()
  }
}
