import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Cleanup } from '../cleanup.ts'
import { closeServer, listen } from '../loopback.ts'
import { environmentOf, type TestS3 } from './environment.ts'
import { signatureFault } from './signature.ts'
import { type Answer, failure, ObjectStorage, type StorageRequest } from './storage.ts'

export type { StorageRequest } from './storage.ts'

/**
 * The fate of a request besides an answer: a status; `lost`: done, but the connection breaks before
 * the answer; `cut`: the connection breaks before anything is done; `page`: something else answers.
 */
export type Fault = 400 | 403 | 412 | 429 | 500 | 503 | 'lost' | 'cut' | 'page' | null

/** The longest key of S3, in bytes. */
const KEY_MAX = 1024

/**
 * An S3 in this process, with one bucket, `test`, in path style: it checks signatures and
 * conditions and the length of keys, knows parts, ranges, copies and lists, and fails on command.
 */
export class FakeS3 extends ObjectStorage implements TestS3 {
  readonly url: string
  readonly requests: StorageRequest[] = []
  /** Decides about each request before it is done. */
  fault: (request: StorageRequest) => Fault = () => null
  /** What is said of the page that something else answers with. */
  pageHeaders: Readonly<Record<string, string>> = { 'content-type': 'text/html' }
  /** By how many milliseconds its clock is ahead. */
  ahead = 0

  private constructor(url: string) {
    super()
    this.url = url
  }

  /** Starts it on a free port, until the test ends. */
  static async start(cleanup: Cleanup): Promise<FakeS3> {
    let serve = async (_: IncomingMessage, response: ServerResponse): Promise<void> => {
      response.destroy()
    }
    const server = createServer((request, response) => {
      serve(request, response).catch(error => response.destroy(error as Error))
    })
    const fake = new FakeS3(await listen(server))
    cleanup.add(() => closeServer(server))
    serve = (request, response) => fake.#take(request, response)
    return fake
  }

  /** As `environmentOf`. */
  env(settings?: Readonly<Record<string, string>>) {
    return environmentOf(this, settings)
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts)
    const url = new URL(request.url ?? '', this.url)
    const [, bucket = '', ...names] = url.pathname.split('/').map(decodeURIComponent)
    const key = names.join('/')
    const { method = '', headers } = request
    const arrived = { method, key, query: url.searchParams, headers }
    this.requests.push(arrived)
    const fault = this.fault(arrived)
    if (fault === 'page')
      return void response
        .writeHead(200, this.pageHeaders)
        .end('<!doctype html><title>Sign in</title>')
    if (fault === 'cut') return void request.socket.destroy()
    const refusal =
      typeof fault === 'number'
        ? failure(fault, fault === 503 ? 'SlowDown' : 'Made')
        : bucket !== 'test'
          ? failure(404, 'NoSuchBucket')
          : Buffer.byteLength(key) > KEY_MAX
            ? failure(400, 'KeyTooLongError')
            : this.#signature(request, body)
    const answer = refusal ?? this.answer(arrived, body)
    if (fault === 'lost') return void request.socket.destroy()
    const bytes = Buffer.from(answer.body ?? '')
    response.writeHead(answer.status, { 'content-length': bytes.length, ...answer.headers })
    response.end(method === 'HEAD' ? undefined : bytes)
  }

  #signature(request: IncomingMessage, body: Buffer): Answer | null {
    const now = Date.now() + this.ahead
    const fault = signatureFault(request, body, now)
    const date = new Date(now).toUTCString()
    return fault === null ? null : { ...failure(403, fault), headers: { date } }
  }
}
