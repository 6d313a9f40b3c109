import type { IncomingHttpHeaders } from 'node:http'
import { KEPT, listPage, objectOf, type StoredObject } from './objects.ts'

/** A request that has arrived: its method, the key, and the names in its query. */
export interface StorageRequest {
  readonly method: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

/** The answer of an object storage. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
}

/** The objects of one bucket, `test`: it knows conditions, ranges, copies and lists. */
export class ObjectStorage {
  readonly objects = new Map<string, StoredObject>()
  /** The most objects of a page of a list. */
  pageSize = 1000

  /** The keys of all objects, sorted. */
  keys(): string[] {
    return [...this.objects.keys()].sort()
  }

  answer(request: StorageRequest, body: Buffer): Answer {
    const { method, key, query } = request
    if (key === '' && method === 'GET') {
      const after = query.get('continuation-token') ?? query.get('start-after') ?? ''
      const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter')]
      const page = listPage(this.objects, prefix, after, this.pageSize, delimiter)
      return { status: 200, body: page }
    }
    if (method === 'PUT') return this.#put(request, body)
    if (method === 'DELETE') {
      this.objects.delete(key)
      return { status: 204 }
    }
    const object = this.objects.get(key)
    if (!object) return failure(404, 'NoSuchKey')
    return get(request, object)
  }

  #put({ key, headers }: StorageRequest, body: Buffer): Answer {
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

  #condition(key: string, headers: StorageRequest['headers']): Answer | null {
    const object = this.objects.get(key)
    if (headers['if-none-match'] === '*' && object) return failure(412, 'PreconditionFailed')
    const tag = headers['if-match']
    if (tag !== undefined && !object) return failure(404, 'NoSuchKey')
    return tag !== undefined && object?.etag !== tag ? failure(412, 'PreconditionFailed') : null
  }
}

function get({ headers }: StorageRequest, { bytes, etag, headers: kept }: StoredObject): Answer {
  const stored = { ...kept, etag }
  const [, first = '', last = ''] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
  if (first === '') {
    const length = { 'content-length': String(bytes.length) }
    return { status: 200, headers: { ...stored, ...length }, body: bytes }
  }
  const part = bytes.subarray(Number(first), Number(last) + 1)
  const range = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`
  return { status: 206, headers: { ...stored, 'content-range': range }, body: part }
}

function kept(headers: StorageRequest['headers']): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => KEPT.test(name))
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

/** Returns an answer with a code, as S3 words it. */
export function failure(status: number, code: string): Answer {
  return { status, body: `<?xml version="1.0"?>\n<Error><Code>${code}</Code></Error>` }
}
