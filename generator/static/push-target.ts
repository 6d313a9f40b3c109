import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { configPath, PUSH_FOLDER, placeOf } from '../../core/paths/tree.ts'
import { sha256 } from '../../core/sha256.ts'
import { fileChecksum, sweepFolder, writeDurably } from '../places/durable-file.ts'
import { PublicTree } from '../places/public-tree.ts'
import type { Bucket } from '../places/s3/bucket.ts'
import { headersOf } from '../places/s3/headers.ts'
import { readBody, reading } from '../places/s3/reading.ts'
import { makePrivate } from '../private-files.ts'
import { FileMutex } from '../store/lock.ts'

/** A file of the target, and what identifies these bytes of it. */
export interface Found {
  readonly bytes: Buffer
  readonly tag: string
}

/** A public tree that many push to at once. Each change is whole, and durable when it returns. */
export interface PushTarget {
  readonly place: string
  /** Returns a file of at most 64 MiB; null when there is none. */
  read(path: string): Promise<Found | null>
  /** Returns the SHA-256 of a file in hex; null when there is none. */
  checksum(path: string): Promise<string | null>
  /** Writes a file if there is none; returns whether it did. */
  create(path: string, bytes: Buffer): Promise<boolean>
  /** Replaces a file if it still has the bytes of `tag`; returns whether it did. */
  replace(path: string, bytes: Buffer, tag: string): Promise<boolean>
  /** Removes a file; does nothing when there is none. */
  remove(path: string): Promise<void>
  /** Lists the files whose paths begin with `start`, which contains a folder. */
  list(start: string): AsyncIterable<string>
  close(): Promise<void>
}

/** The longest index file: more than 100,000 versions. */
const READ_MAX = 64 * 1024 * 1024

/** Half-written files of killed processes are removed when they are so old, in milliseconds. */
const STALE_MS = 3_600_000

/**
 * A folder as the target. Changes are made under a lock that the operating system frees when its
 * holder dies. Refuses a folder that contains something else than a public tree.
 */
export async function folderPushTarget(folder: string): Promise<PushTarget> {
  const tree = new PublicTree(folder, 'never')
  for await (const _ of tree.list()) {
    // In this order: another first push makes the `config.json` before anything else.
    if (!(await tree.has(configPath))) refuse('folder_in_use', { out: folder })
    break
  }
  await makePrivate(tree.path(PUSH_FOLDER))
  const mutex = new FileMutex(tree.path(`${PUSH_FOLDER}/lock`))
  const write = async (path: string, bytes: Buffer) => {
    await sweepFolder(dirname(tree.path(path)), Date.now() - STALE_MS)
    await writeDurably(tree.path(path), bytes)
    return true
  }
  const checksum = (path: string) => fileChecksum(tree.path(path))
  return {
    place: folder,
    async read(path) {
      const bytes = await tree.read(path)
      return bytes && { bytes, tag: sha256(bytes) }
    },
    checksum,
    create: (path, bytes) =>
      mutex.run(async () => !(await tree.has(path)) && (await write(path, bytes))),
    replace: (path, bytes, tag) =>
      mutex.run(async () => (await checksum(path)) === tag && (await write(path, bytes))),
    // Not the folder, into which another push may be writing.
    remove: path => mutex.run(() => rm(tree.path(path), { force: true })),
    async *list(start) {
      for await (const path of tree.list(start.slice(0, start.lastIndexOf('/'))))
        if (path.startsWith(start)) yield path
    },
    close: () => mutex.close(),
  }
}

/** A bucket as the target; what changes may be `cacheSeconds` old in caches. */
export function bucketPushTarget(bucket: Bucket, cacheSeconds: number): PushTarget {
  const write = async (path: string, body: Buffer, onlyIf: 'absent' | { etag: string }) => {
    const headers = headersOf(placeOf(path), cacheSeconds)
    return (await bucket.put(path, { body, cksum: sha256(body), headers, onlyIf })) !== null
  }
  const read = async (path: string) => {
    const found = await bucket.get(path)
    return found && { bytes: await reading(() => readBody(found.bytes, READ_MAX)), tag: found.etag }
  }
  return {
    place: bucket.place,
    read,
    async checksum(path) {
      const there = await bucket.head(path)
      const bytes = there && there.cksum === null ? (await read(path))?.bytes : undefined
      return there?.cksum ?? (bytes ? sha256(bytes) : null)
    },
    create: (path, bytes) => write(path, bytes, 'absent'),
    replace: (path, bytes, tag) => write(path, bytes, { etag: tag }),
    remove: path => bucket.remove(path),
    async *list(start) {
      for await (const { key } of bucket.list(start)) yield key
    },
    close: async () => undefined,
  }
}
