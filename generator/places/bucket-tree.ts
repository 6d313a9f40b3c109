import { rm } from 'node:fs/promises'
import { publicFile } from '../../core/paths/tree.ts'
import { isCopied, Mirror } from './mirror.ts'
import type { TreeChanges } from './sync-batch.ts'

/**
 * The public tree in a bucket that several daemons write: the folder of one of them has a file only
 * until it is uploaded, or has failed to be. Pages are not read again, so what nobody has written
 * here is replaced only while their writer holds the mutex.
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

  /** Only immutable files: others may have newer copies, and marks have them rendered again. */
  protected override leaves({ files }: BucketTree['left']): BucketTree['left'] {
    const kept = [...files].filter(path => publicFile(path).cache === 'immutable')
    return { files: kept, stored: new Map(), gone: new Map() }
  }
}
