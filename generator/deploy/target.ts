import { output, placeOf } from '../../core/paths/tree.ts'
import { fileChecksum, sumOf } from '../store/durable-file.ts'
import { PublicTree } from '../store/public-tree.ts'
import type { Bucket } from '../store/s3/bucket.ts'
import { headersOf } from '../store/s3/headers.ts'

/** Where a public tree is uploaded to. */
export interface DeployTarget {
  readonly place: string
  /** Lists the paths of the files that are there. Comes first. */
  list(): AsyncIterable<string>
  /** Returns whether the file that was listed at `path` has these bytes. */
  has(path: string, bytes: Buffer): Promise<boolean>
  /** Writes a file. */
  put(path: string, bytes: Buffer): Promise<unknown>
  /** Removes a file; does nothing when there is none. */
  remove(path: string): Promise<void>
}

/** A folder as the target, such as one of a web server or another checkout. */
export function folderTarget(folder: string): DeployTarget {
  const tree = new PublicTree(folder, 'never')
  return {
    place: folder,
    list: () => tree.list(),
    has: async (path, bytes) => (await fileChecksum(tree.path(path))) === sumOf('sha256', bytes),
    put: (path, bytes) => tree.write(output(path, bytes)),
    remove: path => tree.remove(path),
  }
}

/** A bucket as the target; what changes may be `cacheSeconds` old in caches. */
export function bucketTarget(bucket: Bucket, cacheSeconds: number): DeployTarget {
  const listed = new Map<string, { readonly size: number; readonly etag: string }>()
  return {
    place: bucket.place,
    async *list() {
      for await (const { key, size, etag } of bucket.list()) {
        listed.set(key, { size, etag })
        yield key
      }
    },
    async has(path, bytes) {
      const there = listed.get(path)
      if (there?.size !== bytes.byteLength) return false
      // Without parts and keys of its own, the ETag of an object is its MD5.
      if (there.etag === `"${sumOf('md5', bytes)}"`) return true
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
