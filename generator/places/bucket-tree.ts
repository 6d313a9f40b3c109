import { rm } from 'node:fs/promises'
import { publicFile } from '../../core/paths/tree.ts'
import { isCopied, Mirror } from './mirror.ts'
import type { TreeChanges } from './sync-batch.ts'

/**
 * The public tree in a bucket that several daemons write: a daemon's folder has a file only until
 * it is uploaded, or has failed to be. Pages are not read again, so an object that this process did
 * not write is replaced only while it holds the mutex.
 */
export class BucketTree extends Mirror {
  override readonly isTree = true

  override async update(changes: TreeChanges): Promise<void> {
    const files = new Set([...this.left.files, ...changes.files])
    try {
      await this.upload(changes, new Map(), changes.mutex ?? null)
    } finally {
      const left = new Set(this.left.files)
      for (const path of files)
        if (isCopied(path) && !left.has(path)) await rm(this.folder.local(path), { force: true })
    }
  }

  /** Retries only immutable files: others may have newer copies, which marks render again. */
  protected override leaves({ files }: BucketTree['left']): BucketTree['left'] {
    const kept = [...files].filter(path => publicFile(path).cache === 'immutable')
    return { files: kept, stored: new Map(), gone: new Map() }
  }
}
