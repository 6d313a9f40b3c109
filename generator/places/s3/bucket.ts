import { createReadStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type {
  GetObjectCommandOutput,
  HeadObjectCommandOutput,
  ListObjectsV2CommandOutput,
  S3Client,
} from '@aws-sdk/client-s3'
import { refuse } from '../../../core/error/error.ts'
import { addressText } from '../../../core/settings/bucket.ts'
import { type BucketOptions, clientsOf, SILENCE_MS } from './client.ts'
import { refuseFailure, statusOf } from './failure.ts'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  getSignedUrl,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from './sdk.ts'

/** What is sent: bytes, or a file that is read once more for every attempt. */
export type Body = Uint8Array | { readonly file: string; readonly size: number }

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
  readonly bytes: Readable
}

/** What is to be written. */
export interface NewObject {
  readonly body: Body
  /** SHA-256 of the body in hex, which the server checks. */
  readonly cksum: string
  /** What the server tells readers: the headers of these names. */
  readonly headers?: { readonly 'content-type'?: string; readonly 'cache-control'?: string }
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

/** Commands of the SDK whose request is changed on its way. */
interface Changeable {
  readonly middlewareStack: PutObjectCommand['middlewareStack']
}

/**
 * The objects below a prefix of a bucket of any S3-compatible storage. Keys are relative to the
 * prefix. Refuses what cannot be reached or is not permitted.
 */
export class Bucket {
  /** The address, as in the settings. */
  readonly place: string
  readonly #requests: S3Client
  readonly #streams: S3Client
  readonly #bucket: string
  readonly #prefix: string
  readonly #silence: number

  constructor(options: BucketOptions) {
    const { requests, streams } = clientsOf(options)
    this.place = addressText(options.address)
    this.#requests = requests
    this.#streams = streams
    this.#silence = options.silence ?? SILENCE_MS
    this.#bucket = options.address.bucket
    this.#prefix = options.address.prefix === '' ? '' : `${options.address.prefix}/`
  }

  /** Writes an object; returns its ETag, or null when the condition does not hold. */
  async put(key: string, object: NewObject): Promise<string | null> {
    const { body, cksum, headers = {}, onlyIf } = object
    const command = new PutObjectCommand({
      ...this.#at(key),
      Body: body instanceof Uint8Array ? body : '',
      ContentLength: body instanceof Uint8Array ? body.byteLength : body.size,
      ContentType: headers['content-type'],
      CacheControl: headers['cache-control'],
      Metadata: { sha256: cksum },
      ...(onlyIf === 'absent' ? { IfNoneMatch: '*' } : onlyIf && { IfMatch: onlyIf.etag }),
    })
    signChecksum(command, cksum)
    if (!(body instanceof Uint8Array)) sendFile(command, body.file)
    // An object that is not there cannot have the ETag of a condition.
    const expects = onlyIf === undefined ? [] : onlyIf === 'absent' ? [412] : [404, 412]
    const written = await unless(expects, 'PUT', () => this.#requests.send(command))
    return written && (written.ETag ?? '')
  }

  /** Returns the facts of an object; null when there is none. */
  async head(key: string): Promise<ObjectFacts | null> {
    const command = new HeadObjectCommand(this.#at(key))
    const found = await unless([404], 'HEAD', () => this.#requests.send(command))
    return found && factsOf(found)
  }

  /** Opens an object, or its bytes from `start` to `end` inclusive; null when there is none. */
  async get(key: string, range?: { start: number; end: number }): Promise<OpenObject | null> {
    const Range = range && `bytes=${range.start}-${range.end}`
    const command = new GetObjectCommand({ ...this.#at(key), Range })
    const found = await unless([404], 'GET', () => this.#streams.send(command))
    if (found === null) return null
    // What the SDK returns in Node.
    const bytes = found.Body as unknown as IncomingMessage
    bytes.on('error', () => undefined)
    destroyWhenSilent(bytes, this.#silence)
    return { ...factsOf(found), bytes }
  }

  /** Removes an object; does nothing when there is none. */
  async remove(key: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#at(key))
    await unless([404], 'DELETE', () => this.#requests.send(command))
  }

  /** Copies an object of at most 5 GB within the storage; returns false when there is none. */
  async copy(from: string, to: string): Promise<boolean> {
    const source = `${this.#bucket}/${this.#prefix}${from}`
    const CopySource = source.split('/').map(encodeURIComponent).join('/')
    const command = new CopyObjectCommand({ ...this.#at(to), CopySource })
    return (await unless([404], 'PUT', () => this.#requests.send(command))) !== null
  }

  /**
   * Lists the objects whose keys begin with `start`, by name, 1,000 with each request; with
   * `isFlat`, only those without a further `/`, with `range` only those in it.
   */
  async *list(start = '', isFlat = false, range?: KeyRange): AsyncIterable<ListedObject> {
    const query = {
      Bucket: this.#bucket,
      Prefix: this.#prefix + start,
      ...(isFlat && { Delimiter: '/' }),
      ...(range && { StartAfter: this.#prefix + range.after }),
    }
    for (let ContinuationToken: string | undefined; ; ) {
      const command = new ListObjectsV2Command({ ...query, ContinuationToken })
      const page = await unless([], 'GET', () => this.#requests.send(command))
      for (const object of (page?.Contents ?? []).map(one => this.#listed(one))) {
        if (range && object.key >= range.before) return
        if (range === undefined || object.key > range.after) yield object
      }
      ContinuationToken = page?.NextContinuationToken
      if (!page?.IsTruncated || ContinuationToken === undefined) return
    }
  }

  /** Returns the address from which anybody may read an object for `seconds`. */
  async presigned(key: string, seconds: number): Promise<string> {
    const command = new GetObjectCommand(this.#at(key))
    const sign = () => getSignedUrl(this.#requests, command, { expiresIn: seconds })
    return (await unless([], 'GET', sign)) ?? ''
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + key }
  }

  #listed({ Key = '', Size = -1, ETag = '', LastModified }: Listed): ListedObject {
    if (!Key.startsWith(this.#prefix) || !Number.isSafeInteger(Size) || Size < 0)
      refuse('bucket_refuses', { reason: 'its list of objects is not one of S3' })
    const changed = LastModified?.getTime() ?? Number.POSITIVE_INFINITY
    return { key: Key.slice(this.#prefix.length), size: Size, etag: ETag, changed }
  }
}

type Listed = NonNullable<ListObjectsV2CommandOutput['Contents']>[number]

/** Runs a request; null when the server answers one of these statuses. Refuses all others. */
async function unless<T>(
  statuses: readonly number[],
  method: string,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (statuses.includes(statusOf(error) ?? 0)) return null
    return refuseFailure(method, error)
  }
}

/** Signs the checksum of the body, so that the server stores no other bytes. */
function signChecksum({ middlewareStack }: Changeable, cksum: string): void {
  middlewareStack.add(
    next => args => {
      const { headers } = args.request as { headers: Record<string, string> }
      headers['x-amz-content-sha256'] = cksum
      return next(args)
    },
    { step: 'build' },
  )
}

/**
 * Opens the file anew for each attempt, because the SDK does not repeat a request with a stream.
 * Closes it when the attempt ends, and ends the attempt when it cannot be read: the SDK does
 * neither.
 */
function sendFile({ middlewareStack }: Changeable, file: string): void {
  middlewareStack.add(
    next => async args => {
      const body = createReadStream(file)
      const failed = new Promise<never>((_, reject) => body.once('error', reject))
      Object.assign(args.request as object, { body })
      try {
        return await Promise.race([next(args), failed])
      } finally {
        body.destroy()
      }
    },
    { step: 'finalizeRequest', priority: 'low' },
  )
}

/**
 * Destroys an answer whose server is silent for `silence` milliseconds, but not while its reader
 * leaves bytes where they are: then it is we who do not let the server send.
 */
function destroyWhenSilent(bytes: IncomingMessage, silence: number): void {
  const { socket } = bytes
  // A reader may have taken the last byte only now: the server is silent when nothing came since.
  let seen = -1
  const look = () => {
    const isWaiting = bytes.readableLength === 0
    if (isWaiting && socket.bytesRead === seen)
      return void bytes.destroy(
        Object.assign(new Error('the server is silent'), { code: 'ETIMEDOUT' }),
      )
    seen = isWaiting ? socket.bytesRead : -1
    socket.setTimeout(silence / 2)
  }
  socket.setTimeout(silence / 2).on('timeout', look)
  bytes.once('close', () => socket.setTimeout(0).off('timeout', look))
}

function factsOf(found: HeadObjectCommandOutput | GetObjectCommandOutput): ObjectFacts {
  const [, whole] = /\/(\d+)$/.exec(found.ContentRange ?? '') ?? []
  return {
    size: Number(whole ?? found.ContentLength ?? Number.NaN),
    etag: found.ETag ?? '',
    cksum: found.Metadata?.sha256 ?? null,
  }
}
