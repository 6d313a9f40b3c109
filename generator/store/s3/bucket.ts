import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { refuse } from '../../../core/error/error.ts'
import { addressText } from '../../../core/settings/bucket.ts'
import { type BucketAnswer, BucketConnection, type BucketOptions } from './connection.ts'
import type { Body } from './exchange.ts'
import { childrenOf, childText, type Element, parseXml } from './xml.ts'

/** Longer content goes in parts of this length, in bytes. */
export const PART_BYTES = 16 * 1024 * 1024

/** What a bucket says about an object. */
export interface ObjectFacts {
  readonly size: number
  /** With its quotes, as conditions need it. */
  readonly etag: string
  /** SHA-256 in hex as the writer of the object gave it; null when another program wrote it. */
  readonly cksum: string | null
}

/** An object that is being read. */
export interface OpenObject extends ObjectFacts {
  /** To be read to its end or destroyed. */
  readonly bytes: IncomingMessage
}

/** What is to be written. */
export interface NewObject {
  readonly body: Body
  /** SHA-256 of the body in hex, which the server checks. */
  readonly cksum: string
  /** Headers that the server gives to readers, such as `content-type`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Written only where there is no object, or the one with this ETag. */
  readonly onlyIf?: 'absent' | { readonly etag: string }
}

/** An object in a list; its key is relative to the prefix of the address. */
export interface ListedObject {
  readonly key: string
  readonly size: number
  readonly etag: string
  /** When it was written, in milliseconds since 1970; `Infinity` when the storage does not say. */
  readonly changed: number
}

/** The keys between two texts of ASCII characters, neither of which is a key. */
export interface KeyRange {
  readonly after: string
  readonly before: string
}

/**
 * The objects below a prefix of a bucket of any S3-compatible storage. Keys are relative to the
 * prefix. Refuses what cannot be reached or is not permitted.
 */
export class Bucket {
  /** The address, as in the settings. */
  readonly place: string
  readonly #connection: BucketConnection
  readonly #prefix: string

  constructor(options: BucketOptions) {
    this.place = addressText(options.address)
    this.#connection = new BucketConnection(options)
    this.#prefix = options.address.prefix === '' ? '' : `${options.address.prefix}/`
  }

  /** Writes an object; returns its ETag, or null when the condition does not hold. */
  async put(key: string, object: NewObject): Promise<string | null> {
    const { body, cksum, onlyIf } = object
    const condition = conditionOf(onlyIf)
    const headers = { ...object.headers, 'x-amz-meta-sha256': cksum }
    if (sizeOf(body) > PART_BYTES) return this.#putParts(key, body, headers, condition)
    const answer = await this.#connection.send({
      method: 'PUT',
      key: this.#prefix + key,
      headers: { ...headers, ...condition },
      body,
      hash: cksum,
      // An object that is not there cannot have the ETag of a condition.
      expects: onlyIf === undefined ? [] : onlyIf === 'absent' ? [412] : [404, 412],
    })
    return [404, 412].includes(answer.status) ? null : (answer.headers.etag ?? '')
  }

  /** Returns the facts of an object; null when there is none. */
  async head(key: string): Promise<ObjectFacts | null> {
    const request = { method: 'HEAD', key: this.#prefix + key, expects: [404] } as const
    const { status, headers } = await this.#connection.send(request)
    return status === 404 ? null : factsOf(headers)
  }

  /** Opens an object, or its bytes from `start` to `end` inclusive; null when there is none. */
  async get(key: string, range?: { start: number; end: number }): Promise<OpenObject | null> {
    const bytes = await this.#connection.open({
      method: 'GET',
      key: this.#prefix + key,
      headers: range ? { range: `bytes=${range.start}-${range.end}` } : {},
      expects: [404],
    })
    return bytes.statusCode === 404 ? null : { ...factsOf(bytes.headers), bytes }
  }

  /** Removes an object; does nothing when there is none. */
  async remove(key: string): Promise<void> {
    await this.#connection.send({ method: 'DELETE', key: this.#prefix + key, expects: [404] })
  }

  /** Copies an object of at most 5 GB within the storage; returns false when there is none. */
  async copy(from: string, to: string): Promise<boolean> {
    const source = this.#connection.copySource(this.#prefix + from)
    const { status } = await this.#connection.send({
      method: 'PUT',
      key: this.#prefix + to,
      headers: { 'x-amz-copy-source': source },
      expects: [404],
    })
    return status !== 404
  }

  /**
   * Lists the objects whose keys begin with `start`, by name, 1,000 with each request; with
   * `isFlat`, only those without a further `/`, with `range` only those in it.
   */
  async *list(start = '', isFlat = false, range?: KeyRange): AsyncIterable<ListedObject> {
    for (let token = ''; ; ) {
      const query = {
        'list-type': '2',
        prefix: this.#prefix + start,
        ...(isFlat && { delimiter: '/' }),
        ...(range && { 'start-after': this.#prefix + range.after }),
        ...(token !== '' && { 'continuation-token': token }),
      }
      const answer = await this.#connection.send({ method: 'GET', key: '', query })
      const page = rootOf(answer, 'ListBucketResult')
      for (const one of childrenOf(page, 'Contents').map(found => this.#listed(found))) {
        if (range && one.key >= range.before) return
        if (range === undefined || one.key > range.after) yield one
      }
      token = childText(page, 'NextContinuationToken')
      if (childText(page, 'IsTruncated') !== 'true' || token === '') return
    }
  }

  /** Returns the address from which anybody may read an object for `seconds`. */
  presigned(key: string, seconds: number): Promise<string> {
    return this.#connection.presigned(this.#prefix + key, seconds)
  }

  #listed(element: Element): ListedObject {
    const key = childText(element, 'Key')
    const size = Number(childText(element, 'Size'))
    if (!key.startsWith(this.#prefix) || !Number.isSafeInteger(size))
      refuse('bucket_refuses', { reason: 'its list of objects is not one of S3' })
    const changed = Date.parse(childText(element, 'LastModified'))
    return {
      key: key.slice(this.#prefix.length),
      size,
      etag: childText(element, 'ETag'),
      changed: Number.isNaN(changed) ? Number.POSITIVE_INFINITY : changed,
    }
  }

  async #putParts(
    relative: string,
    body: Body,
    headers: Readonly<Record<string, string>>,
    condition: Readonly<Record<string, string>>,
  ): Promise<string | null> {
    const key = this.#prefix + relative
    const begun = await this.#connection.send({
      method: 'POST',
      key,
      headers,
      query: { uploads: '' },
    })
    const uploadId = childText(rootOf(begun, 'InitiateMultipartUploadResult'), 'UploadId')
    try {
      const etags = await this.#sendParts(key, uploadId, body)
      const parts = etags.map((etag, at) => {
        const tag = etag.replace(/[<>&]/g, '')
        return `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`
      })
      const whole = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      const answer = await this.#connection.send({
        method: 'POST',
        key,
        query: { uploadId },
        headers: condition,
        ...hashed(Buffer.from(whole)),
        expects: [404, 412],
      })
      // A retry of a completion whose answer was lost finds no upload any more.
      if (answer.status === 404) return this.#completed(relative, headers['x-amz-meta-sha256'])
      if (answer.status !== 412)
        return childText(rootOf(answer, 'CompleteMultipartUploadResult'), 'ETag')
    } catch (error) {
      await this.#abort(key, uploadId).catch(() => undefined)
      throw error
    }
    await this.#abort(key, uploadId)
    return null
  }

  async #sendParts(key: string, uploadId: string, body: Body): Promise<string[]> {
    const etags: string[] = []
    for await (const part of partsOf(body)) {
      const query = { partNumber: String(etags.length + 1), uploadId }
      const sent = await this.#connection.send({ method: 'PUT', key, query, ...hashed(part) })
      etags.push(sent.headers.etag ?? '')
    }
    return etags
  }

  async #completed(key: string, cksum: string | undefined): Promise<string | null> {
    const facts = await this.head(key)
    return facts && facts.cksum === cksum ? facts.etag : null
  }

  async #abort(key: string, uploadId: string): Promise<void> {
    await this.#connection.send({ method: 'DELETE', key, query: { uploadId }, expects: [404] })
  }
}

function conditionOf(onlyIf: NewObject['onlyIf']): Readonly<Record<string, string>> {
  if (onlyIf === undefined) return {}
  return onlyIf === 'absent' ? { 'if-none-match': '*' } : { 'if-match': onlyIf.etag }
}

function factsOf(headers: IncomingMessage['headers']): ObjectFacts {
  const [, whole] = /\/(\d+)$/.exec(headers['content-range'] ?? '') ?? []
  const cksum = headers['x-amz-meta-sha256']
  return {
    size: Number(whole ?? headers['content-length'] ?? Number.NaN),
    etag: headers.etag ?? '',
    cksum: typeof cksum === 'string' ? cksum : null,
  }
}

function rootOf({ body }: BucketAnswer, name: string): Element {
  const root = parseXml(body.toString())
  return root?.name === name
    ? root
    : refuse('bucket_refuses', { reason: `its answer is no ${name}` })
}

function sizeOf(body: Body): number {
  return body instanceof Uint8Array ? body.byteLength : body.size
}

function hashed(body: Uint8Array): { readonly body: Uint8Array; readonly hash: string } {
  return { body, hash: createHash('sha256').update(body).digest('hex') }
}

async function* partsOf(body: Body): AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) {
    for (let at = 0; at < body.byteLength; at += PART_BYTES)
      yield body.subarray(at, at + PART_BYTES)
    return
  }
  const file = await open(body.file)
  try {
    for (let at = 0; at < body.size; at += PART_BYTES) {
      const part = Buffer.allocUnsafe(Math.min(PART_BYTES, body.size - at))
      const { bytesRead } = await file.read(part, 0, part.byteLength, at)
      if (bytesRead < part.byteLength) throw new Error(`${body.file} has become shorter`)
      yield part
    }
  } finally {
    await file.close()
  }
}
