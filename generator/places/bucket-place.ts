import type { IncomingMessage } from 'node:http'
import type {
  GetObjectCommandOutput,
  HeadObjectCommandOutput,
  ListObjectsV2CommandOutput,
  S3Client,
} from '@aws-sdk/client-s3'
import { collectBytes } from '../../core/async/collect-bytes.ts'
import { refuse } from '../../core/error/error.ts'
import { addressText } from '../../core/paths/bucket.ts'
import { CACHE_CONTROL, publicFile } from '../../core/paths/tree.ts'
import { sha256 } from '../../core/sha256.ts'
import type {
  ByteRange,
  Content,
  FileInfo,
  LocalFile,
  OpenFile,
  PathRange,
  Place,
  PutOptions,
} from './place.ts'
import { BUDGET_MS, clientsOf, SILENCE_MS } from './s3/client.ts'
import {
  isTransient,
  reading,
  refuseFailure,
  refuseForeign,
  retried,
  statusOf,
} from './s3/failure.ts'
import type { BucketOptions } from './s3/options.ts'
import { destroyWhenSilent, sendFile, signChecksum } from './s3/requests.ts'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  getSignedUrl,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from './s3/sdk.ts'

/** An object as its bucket describes it. */
export interface ObjectInfo {
  readonly size: number
  readonly etag: string
  /** SHA-256 in hex as the writer of the object gave it; null when another program wrote it. */
  readonly cksum: string | null
}

/** Objects below a prefix of an S3 bucket. Refuses one that it cannot reach or may not use. */
export class BucketPlace implements Place {
  readonly name: string
  readonly #requests: S3Client
  readonly #streams: S3Client
  readonly #bucket: string
  readonly #prefix: string
  readonly #silence: number
  readonly #cacheSeconds: number
  readonly #budget: number

  /** `cacheSeconds`: how old what changes may be in caches; with 0, these ask each time. */
  constructor(options: BucketOptions, cacheSeconds: number) {
    const { requests, streams } = clientsOf(options)
    this.name = addressText(options.address)
    this.#requests = requests
    this.#streams = streams
    this.#silence = options.silence ?? SILENCE_MS
    this.#bucket = options.address.bucket
    this.#prefix = options.address.prefix === '' ? '' : `${options.address.prefix}/`
    this.#cacheSeconds = cacheSeconds
    this.#budget = options.budget ?? BUDGET_MS
  }

  async put(
    path: string,
    content: Uint8Array | LocalFile,
    { cksum, onlyIf }: PutOptions = {},
  ): Promise<string | null> {
    const isFile = !(content instanceof Uint8Array)
    const sum = cksum ?? (isFile ? '' : sha256(content))
    const { contentType, cache } = publicFile(path)
    const isKept = cache === 'revalidate' && this.#cacheSeconds > 0
    const request = {
      ...this.#at(path),
      Body: isFile ? '' : content,
      ContentLength: isFile ? content.size : content.byteLength,
      ContentType: contentType,
      CacheControl: isKept ? `public, max-age=${this.#cacheSeconds}` : CACHE_CONTROL[cache],
      Metadata: { sha256: sum },
      ...(onlyIf === 'absent' ? { IfNoneMatch: '*' } : onlyIf && { IfMatch: onlyIf.etag }),
    }
    // An object that is not there cannot have the ETag of a condition.
    const expects = onlyIf === undefined ? [] : onlyIf === 'absent' ? [412] : [404, 412]
    const written = await this.#unless(expects, 'PUT', () => {
      const command = new PutObjectCommand(request)
      signChecksum(command, sum)
      if (isFile) sendFile(command, content.path)
      return this.#requests.send(command)
    })
    return written && (written.ETag ?? '')
  }

  async head(path: string): Promise<ObjectInfo | null> {
    const head = await this.#unless([404], 'HEAD', () =>
      this.#requests.send(new HeadObjectCommand(this.#at(path))),
    )
    return head && infoOf(head)
  }

  async checksum(path: string): Promise<string | null> {
    return (await this.head(path))?.cksum ?? null
  }

  async open(path: string, range?: ByteRange): Promise<(OpenFile & ObjectInfo) | null> {
    const Range = range && `bytes=${range.start}-${range.end}`
    const object = await this.#unless([404], 'GET', () =>
      this.#streams.send(new GetObjectCommand({ ...this.#at(path), Range })),
    )
    if (object === null) return null
    // In Node the SDK returns this.
    const bytes = object.Body as unknown as IncomingMessage
    bytes.on('error', () => undefined)
    const isPart = object.ContentRange?.startsWith(`bytes ${range?.start}-`) ?? false
    if (object.ContentLength === undefined || isPart !== (range !== undefined)) {
      bytes.destroy()
      refuseForeign(`GET ${isPart ? 206 : 200} without ${range ? 'that part' : 'a length'}`)
    }
    destroyWhenSilent(bytes, this.#silence)
    return { ...infoOf(object), bytes }
  }

  async read(path: string, max?: number): Promise<Content | null> {
    const file = await this.open(path)
    if (!file) return null
    const most = max ?? file.size
    const bytes = await reading(() => collectBytes(file.bytes, most))
    if (!bytes) throw new Error(`an object of the storage is longer than ${most} bytes`)
    return { bytes, etag: file.etag }
  }

  async remove(path: string): Promise<void> {
    await this.#unless([404], 'DELETE', () =>
      this.#requests.send(new DeleteObjectCommand(this.#at(path))),
    )
  }

  /** Lists files by path, 1,000 with each request; with `isFlat`, only those in no folder. */
  async *list(start = '', range?: PathRange, isFlat = false): AsyncIterable<FileInfo> {
    const query = {
      Bucket: this.#bucket,
      Prefix: this.#prefix + start,
      ...(isFlat && { Delimiter: '/' }),
      ...(range && { StartAfter: this.#prefix + range.after }),
    }
    for (let ContinuationToken: string | undefined; ; ) {
      const request = { ...query, ContinuationToken }
      const page = await this.#unless([], 'GET', () =>
        this.#requests.send(new ListObjectsV2Command(request)),
      )
      if (page?.Name === undefined && page?.IsTruncated === undefined)
        refuseForeign('GET 200 without a list')
      for (const file of (page?.Contents ?? []).map(object => this.#listed(object))) {
        if (range && file.path >= range.before) return
        if (range === undefined || file.path > range.after) yield file
      }
      if (!page?.IsTruncated) return
      const next = page.NextContinuationToken
      if (next === undefined || next === ContinuationToken)
        refuseForeign('GET 200 with the beginning of a list')
      ContinuationToken = next
    }
  }

  async presigned(path: string, seconds: number): Promise<string> {
    const command = new GetObjectCommand(this.#at(path))
    const sign = () => getSignedUrl(this.#requests, command, { expiresIn: seconds })
    return (await this.#unless([], 'GET', sign)) ?? ''
  }

  /** Makes a request, with useful retries; null for one of these statuses. Refuses others. */
  async #unless<T>(
    statuses: readonly number[],
    method: string,
    work: () => Promise<T>,
  ): Promise<T | null> {
    try {
      return await retried(this.#budget, work, isTransient)
    } catch (error) {
      if (statuses.includes(statusOf(error) ?? 0)) return null
      return refuseFailure(method, error)
    }
  }

  #at(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + path }
  }

  #listed({ Key = '', Size = -1, ETag = '', LastModified }: Listed): FileInfo {
    if (!Key.startsWith(this.#prefix) || !Number.isSafeInteger(Size) || Size < 0)
      refuse('bucket_refuses', { reason: 'its list of objects is not one of S3' })
    // An object of unknown time counts as changed.
    const changed = LastModified?.getTime() ?? Number.POSITIVE_INFINITY
    return { path: Key.slice(this.#prefix.length), size: Size, etag: ETag, changed }
  }
}

type Listed = NonNullable<ListObjectsV2CommandOutput['Contents']>[number]

function infoOf(response: HeadObjectCommandOutput | GetObjectCommandOutput): ObjectInfo {
  const [, whole] = /\/(\d+)$/.exec(response.ContentRange ?? '') ?? []
  return {
    size: Number(whole ?? response.ContentLength ?? Number.NaN),
    etag: response.ETag ?? '',
    cksum: response.Metadata?.sha256 ?? null,
  }
}
