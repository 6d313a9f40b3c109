import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cleanup } from '../cleanup.ts'
import { environmentOf, type TestS3 } from './environment.ts'
import { KEPT, listPage, objectOf, type StoredObject } from './objects.ts'
import { signatureFault } from './signature.ts'

/** A request that has arrived: its method, the key, and the names in its query. */
export interface Arrived {
  readonly method: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
}

/**
 * What becomes of a request besides being answered: a status; `lost`: done, but the connection
 * breaks before the answer; `cut`: the connection breaks before anything is done.
 */
export type Fault = 403 | 412 | 429 | 500 | 503 | 'lost' | 'cut' | null

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
}

interface Upload {
  readonly key: string
  readonly headers: Record<string, string>
  readonly parts: Map<number, Buffer>
}

/**
 * An S3 in this process, with one bucket, `test`, in path style: it checks signatures and
 * conditions, knows parts, ranges, copies and lists, and fails as it is told to.
 */
export class FakeS3 implements TestS3 {
  readonly url: string
  readonly objects = new Map<string, StoredObject>()
  readonly requests: Arrived[] = []
  /** Decides about each request before it is done. */
  fault: (request: Arrived) => Fault = () => null
  /** The most objects of a page of a list. */
  pageSize = 1000
  /** By how many milliseconds its clock is ahead. */
  ahead = 0
  readonly #uploads = new Map<string, Upload>()

  private constructor(url: string) {
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
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    cleanup.add(() => {
      server.closeAllConnections()
      return new Promise<void>(resolve => server.close(() => resolve()))
    })
    const fake = new FakeS3(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    serve = (request, response) => fake.#take(request, response)
    return fake
  }

  /** As `environmentOf`. */
  env(settings?: Readonly<Record<string, string>>) {
    return environmentOf(this, settings)
  }

  /** The keys of all objects, sorted. */
  keys(): string[] {
    return [...this.objects.keys()].sort()
  }

  /** The number of uploads in parts that were neither completed nor aborted. */
  get openUploads(): number {
    return this.#uploads.size
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
    if (fault === 'cut') return void request.socket.destroy()
    const refusal =
      typeof fault === 'number'
        ? failure(fault, fault === 503 ? 'SlowDown' : 'Made')
        : bucket === 'test'
          ? this.#signature(request, body)
          : failure(404, 'NoSuchBucket')
    const answer = refusal ?? this.#answer(arrived, body)
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

  #answer(request: Arrived, body: Buffer): Answer {
    const { method, key, query } = request
    if (key === '' && method === 'GET') {
      const after = query.get('continuation-token') ?? ''
      const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter')]
      const page = listPage(this.objects, prefix, after, this.pageSize, delimiter)
      return { status: 200, body: page }
    }
    if (query.has('uploads') || query.has('uploadId')) return this.#inParts(request, body)
    if (method === 'PUT') return this.#put(request, body)
    if (method === 'DELETE') {
      this.objects.delete(key)
      return { status: 204 }
    }
    const object = this.objects.get(key)
    if (!object) return failure(404, 'NoSuchKey')
    return get(request, object)
  }

  #put({ key, headers }: Arrived, body: Buffer): Answer {
    const refusal = this.#condition(key, headers)
    if (refusal) return refusal
    const source = headers['x-amz-copy-source']
    if (typeof source === 'string') {
      const object = this.objects.get(decodeURIComponent(source).replace(/^\/?test\//, ''))
      if (!object) return failure(404, 'NoSuchKey')
      this.objects.set(key, object)
      return { status: 200, body: `<CopyObjectResult><ETag>x</ETag></CopyObjectResult>` }
    }
    const object = objectOf(body, kept(headers))
    this.objects.set(key, object)
    return { status: 200, headers: { etag: object.etag } }
  }

  #condition(key: string, headers: Arrived['headers']): Answer | null {
    const object = this.objects.get(key)
    if (headers['if-none-match'] === '*' && object) return failure(412, 'PreconditionFailed')
    const tag = headers['if-match']
    if (tag !== undefined && !object) return failure(404, 'NoSuchKey')
    return tag !== undefined && object?.etag !== tag ? failure(412, 'PreconditionFailed') : null
  }

  #inParts({ method, key, query, headers }: Arrived, body: Buffer): Answer {
    if (query.has('uploads')) {
      const id = randomUUID()
      this.#uploads.set(id, { key, headers: kept(headers), parts: new Map() })
      const text = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`
      return { status: 200, body: text }
    }
    const id = query.get('uploadId') ?? ''
    const upload = this.#uploads.get(id)
    if (upload?.key !== key) return failure(404, 'NoSuchUpload')
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), body)
      return { status: 200, headers: { etag: objectOf(body, {}).etag } }
    }
    if (method === 'POST') {
      const refusal = this.#condition(key, headers)
      if (refusal) return refusal
      const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes)
      this.objects.set(key, objectOf(Buffer.concat(parts), upload.headers, parts))
    }
    this.#uploads.delete(id)
    if (method === 'DELETE') return { status: 204 }
    const { etag = '' } = this.objects.get(key) ?? {}
    const text = `<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`
    return { status: 200, body: text }
  }
}

function get({ headers }: Arrived, { bytes, etag, headers: kept }: StoredObject): Answer {
  const facts = { ...kept, etag }
  const [, first = '', last = ''] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
  if (first === '') {
    const length = { 'content-length': String(bytes.length) }
    return { status: 200, headers: { ...facts, ...length }, body: bytes }
  }
  const part = bytes.subarray(Number(first), Number(last) + 1)
  const range = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`
  return { status: 206, headers: { ...facts, 'content-range': range }, body: part }
}

function kept(headers: Arrived['headers']): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => KEPT.test(name))
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

function failure(status: number, code: string): Answer {
  return { status, body: `<?xml version="1.0"?>\n<Error><Code>${code}</Code></Error>` }
}
