import { posix } from 'node:path'
import { isName } from '../../../core/name.ts'
import { CRATES_FOLDER, crateFolder } from '../../../core/paths/crates.ts'
import { configPath, INDEX_FOLDER, indexPath, isListPath } from '../../../core/paths/tree.ts'
import { findCrate } from '../../records/crates.ts'
import { releaseOfBytes } from '../../records/releases-stored.ts'
import type { BuildContext } from '../context.ts'

/** Lists files of the public tree that belong to no crate, not even to one that was just added. */
export async function* orphans(context: BuildContext): AsyncIterable<string> {
  for (const folder of [INDEX_FOLDER, CRATES_FOLDER]) {
    for await (const path of context.tree.list(folder)) {
      if (path !== configPath && !isListPath(path) && !(await isOwned(context, path))) yield path
    }
  }
}

/** Removes an orphan file, unless it belongs to a crate by now. */
export async function removeOrphan(context: BuildContext, path: string): Promise<void> {
  await context.mutex.run(async () => {
    if (!(await isOwned(context, path))) await context.tree.remove(path)
  })
}

/**
 * Runs `work` on bytes of the crate store; returns null if a release has them. Bytes and record of
 * a release are stored in one turn of the mutex, so that none is mistaken for an orphan.
 */
export async function withoutRelease<T>(
  { database, mutex }: BuildContext,
  cksum: string,
  work: () => Promise<T>,
): Promise<T | null> {
  return mutex.run(async () => {
    if (await releaseOfBytes(database, cksum)) return null
    return (await mutex.isHeld()) ? work() : null
  })
}

async function isOwned({ database }: BuildContext, path: string): Promise<boolean> {
  const [top, folder = ''] = path.split('/')
  const text = top === INDEX_FOLDER ? posix.basename(path) : folder
  const crate = isName(text) ? await findCrate(database, text) : null
  if (!crate) return false
  return top === INDEX_FOLDER
    ? indexPath(crate.name) === path
    : path.startsWith(`${crateFolder(crate.name)}/`)
}
