import { refuse, refuseErrors } from '../../core/error/error.ts'
import { isComplete, noteComplete, type Progress } from '../build/build.ts'
import { noteMirrored, uploadTree } from '../deploy/complete-mirror.ts'
import { pagesNote } from '../pages/claim.ts'
import type { Registry } from '../registry.ts'
import { readIndexFile } from '../store/catalog/index-file.ts'
import { keyAtPath, releaseOfBytes } from '../store/catalog/releases.ts'
import type { Queries } from '../store/database/statement.ts'
import { Mirror } from '../store/mirror.ts'
import type { Bucket } from '../store/s3/bucket.ts'

/** A copy of the public tree in a bucket, for the registry that moves. */
export interface TreeCopy {
  /** Uploads what the bucket lacks or has otherwise; the next call goes on where it stops. */
  upload(progress?: Progress): Promise<void>
  /**
   * Records in the records that have moved that the bucket has the tree, but for what is marked.
   * `isShared`: whether the bucket is the tree itself there.
   */
  note(records: Queries, isShared: boolean): Promise<void>
}

/**
 * Returns the copy of a registry's tree in a bucket. Refuses a tree that is in a bucket already, or
 * is not complete.
 */
export async function copyTree(registry: Registry, bucket: Bucket): Promise<TreeCopy> {
  const { crates, database, settings, tree } = registry
  if (tree.shared) refuse('migrate_tree_shared', { place: tree.shared.place })
  if (!(await isComplete(registry))) refuse('migrate_tree_incomplete', { dir: registry.dir })
  const mirror = new Mirror(bucket, tree.root, crates, {
    cacheSeconds: settings.storage.cache_seconds,
    indexFile: path => readIndexFile(database, path),
    isReleased: async cksum => (await releaseOfBytes(database, cksum)) !== null,
    keyAt: path => keyAtPath(database, path),
  })
  const notePages = await pagesNote(registry)
  return {
    upload: async progress => refuseErrors(await uploadTree(registry, mirror, progress)),
    note: async (records, isShared) => {
      const shared = isShared ? bucket.place : undefined
      await noteComplete(records, shared)
      await notePages(records, shared ?? null)
      if (!isShared) await noteMirrored(records, bucket.place)
    },
  }
}
