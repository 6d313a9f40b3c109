import { lstatSync } from 'node:fs'
import { output, placeOf } from '../../core/paths/tree.ts'
import { isTemporary } from '../places/disk/steps.ts'
import { fileChecksum, readFolder, sumOf } from '../places/durable-file.ts'
import { PublicTree } from '../places/public-tree.ts'
import type { Bucket, KeyRange } from '../places/s3/bucket.ts'
import { headersOf } from '../places/s3/headers.ts'
import { readBody, reading } from '../places/s3/reading.ts'

/** A file as a list has it. */
export interface ListedFile {
  readonly path: string
  readonly size: number
  /** When it was last changed, in milliseconds since 1970, by the clock of its storage. */
  readonly changed: number
  /** Of a file in a bucket. */
  readonly etag?: string
}

/** Where a public tree is uploaded to, or copied from: a folder or a bucket. */
export interface DeployTarget {
  readonly place: string
  /** Lists the files that are there, all or those in a range, in no particular order. */
  list(range?: KeyRange): AsyncIterable<ListedFile>
  /** Reads a file; null when there is none. */
  read(path: string): Promise<Buffer | null>
  /** Returns whether a file that was listed has these bytes. */
  has(file: ListedFile, bytes: Buffer): Promise<boolean>
  /** Writes a file. */
  put(path: string, bytes: Buffer): Promise<unknown>
  /** Removes a file; does nothing when there is none. */
  remove(path: string): Promise<void>
}

/** All keys and paths. */
const ALL: KeyRange = { after: '', before: '\uffff' }

/** A folder as the target, such as one of a web server or another checkout. */
export function folderTarget(folder: string, tree = new PublicTree(folder, 'never')): DeployTarget {
  return {
    place: folder,
    list: (range = ALL) => listFolder(tree, '', range),
    read: path => tree.read(path),
    has: async ({ path }, bytes) =>
      (await fileChecksum(tree.path(path))) === sumOf('sha256', bytes),
    put: (path, bytes) => tree.write(output(path, bytes)),
    remove: path => tree.remove(path),
  }
}

async function* listFolder(
  tree: PublicTree,
  folder: string,
  range: KeyRange,
): AsyncIterable<ListedFile> {
  for (const entry of await readFolder(tree.path(folder))) {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    if (entry.isDirectory()) {
      // All paths in it are between these: `0` comes after `/`.
      if (`${path}0` > range.after && `${path}/` < range.before)
        yield* listFolder(tree, path, range)
    } else if (path > range.after && path < range.before && !isTemporary(entry.name)) {
      // Not by the thread pool: the way there takes longer than this.
      const facts = lstatSync(tree.path(path), { throwIfNoEntry: false })
      // A rename and a link change only the second one.
      if (facts) yield { path, size: facts.size, changed: Math.max(facts.mtimeMs, facts.ctimeMs) }
    }
  }
}

/** A bucket as the target; what changes may be `cacheSeconds` old in caches. */
export function bucketTarget(bucket: Bucket, cacheSeconds: number): DeployTarget {
  return {
    place: bucket.place,
    async *list(range) {
      for await (const { key: path, ...facts } of bucket.list('', false, range))
        yield { path, ...facts }
    },
    async read(path) {
      const found = await bucket.get(path)
      return found && reading(() => readBody(found.bytes, found.size))
    },
    async has({ path, size, etag }, bytes) {
      if (size !== bytes.byteLength) return false
      // Without parts and keys of its own, the ETag of an object is its MD5.
      if (etag === `"${sumOf('md5', bytes)}"`) return true
      return (await bucket.head(path))?.cksum === sumOf('sha256', bytes)
    },
    put: (path, bytes) =>
      bucket.put(path, {
        body: bytes,
        cksum: sumOf('sha256', bytes),
        headers: headersOf(placeOf(path), cacheSeconds),
      }),
    remove: path => bucket.remove(path),
  }
}
