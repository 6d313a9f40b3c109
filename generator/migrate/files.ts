import { lstatSync } from 'node:fs'
import { output, placeOf } from '../../core/paths/tree.ts'
import { isTemporary } from '../store/disk/steps.ts'
import { readFolder, sumOf } from '../store/durable-file.ts'
import { PublicTree } from '../store/public-tree.ts'
import type { Bucket, KeyRange } from '../store/s3/bucket.ts'
import { headersOf } from '../store/s3/headers.ts'
import { readBody, reading } from '../store/s3/reading.ts'

/** A file as a list has it. */
export interface ListedFile {
  readonly path: string
  readonly size: number
  /** When it was last changed, in milliseconds since 1970, by the clock of its storage. */
  readonly changed: number
  /** Of a file in a bucket. */
  readonly etag?: string
}

/** The files of a public tree in a folder or a bucket. */
export interface TreeFiles {
  /** Lists the files whose paths are in a range, in no particular order. */
  list(range: KeyRange): AsyncIterable<ListedFile>
  /** Reads a file; null when there is none. */
  read(path: string): Promise<Buffer | null>
  /** Returns the MD5 of a file that was listed, as an ETag; null when that is not known. */
  sum(file: ListedFile): Promise<string | null>
  /** Writes a file unless it has these bytes; returns whether it was written. */
  write(path: string, bytes: Buffer, there: ListedFile | undefined): Promise<boolean>
  remove(path: string): Promise<void>
  /** Puts on disk what was written and removed. */
  sync(): Promise<void>
}

/** Returns the files of a tree in a folder. */
export function folderFiles(root: string): TreeFiles {
  let batch = new PublicTree(root, 'never').newBatch()
  const tree = () => new PublicTree(root, batch)
  return {
    list: range => listFolder(tree(), '', range),
    read: path => tree().read(path),
    sum: async ({ path }) => {
      const bytes = await tree().read(path)
      return bytes && etagOf(bytes)
    },
    write: (path, bytes) => tree().write(output(path, bytes)),
    remove: path => tree().remove(path),
    sync: async () => {
      const full = batch
      batch = tree().newBatch()
      await full.sync()
    },
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
      const changed = facts && Math.max(facts.mtimeMs, facts.ctimeMs)
      if (facts?.isFile()) yield { path, size: facts.size, changed: changed ?? 0 }
    }
  }
}

/** Returns the files of a tree in a bucket; what changes may be `cacheSeconds` old in caches. */
export function bucketFiles(bucket: Bucket, cacheSeconds: number): TreeFiles {
  return {
    list: async function* (range) {
      for await (const { key: path, size, etag, changed } of bucket.list('', false, range))
        yield { path, size, etag, changed }
    },
    read: async path => {
      const found = await bucket.get(path)
      return found && reading(() => readBody(found.bytes, found.size))
    },
    // Without parts and keys of its own, the ETag of an object is its MD5.
    sum: async ({ etag = '' }) => (/^"[0-9a-f]{32}"$/.test(etag) ? etag : null),
    write: async (path, bytes, there) => {
      const cksum = sumOf('sha256', bytes)
      if (there?.size === bytes.byteLength) {
        if (there.etag === etagOf(bytes)) return false
        if ((await bucket.head(path))?.cksum === cksum) return false
      }
      const headers = headersOf(placeOf(path), cacheSeconds)
      await bucket.put(path, { body: bytes, cksum, headers })
      return true
    },
    remove: path => bucket.remove(path),
    sync: async () => {},
  }
}

function etagOf(bytes: Uint8Array): string {
  return `"${sumOf('md5', bytes)}"`
}
