import { closeSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BUILD_LOCK } from '../../core/paths/tree.ts'
import { Lock } from '../places/locks/lock.ts'

/** Errors of a file that only make the build slower; common in containers. */
const UNUSABLE = new Set(
  'EACCES EPERM EROFS EBUSY ENOENT ENOTDIR ELOOP EISDIR EEXIST ENOSPC EDQUOT'.split(' '),
)

/** How often a build looks whether another one has ended, in milliseconds. */
const POLL_MS = 100

/** Does work with a file that only makes a build faster; null if it cannot be used. */
export async function ifUsable<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!UNUSABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    return null
  }
}

/** Waits until no other build uses a cache. */
export async function lockOf(path: string): Promise<Lock> {
  const lock = new Lock(`${path}.lock`)
  while (!lock.tryAcquire(`process ${process.pid}`)) await sleep(POLL_MS)
  return lock
}

/**
 * Waits until no other build changes a tree, whatever caches they have; returns what ends that. The
 * files of the lock are in the tree only meanwhile: who got one that was removed takes the next.
 */
export async function lockTree(root: string): Promise<() => Promise<void>> {
  mkdirSync(root, { recursive: true })
  const path = join(root, BUILD_LOCK)
  for (;;) {
    const file = openSync(`${path}.lock`, 'a', 0o600)
    const lock = await lockOf(path)
    const now = statSync(`${path}.lock`, { throwIfNoEntry: false })?.ino
    const isThere = now === fstatSync(file).ino
    const free = async () => {
      for (const end of isThere ? ['.holder', ''] : [])
        await ifUsable(() => rm(`${path}.lock${end}`, { force: true }))
      lock.release()
      // Only now: it would drop the lock, too.
      closeSync(file)
    }
    if (isThere) return free
    await free()
  }
}
