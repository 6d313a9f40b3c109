import { posix } from 'node:path'
import { isName } from '../../../core/name.ts'
import { CRATES_FOLDER, crateFolder } from '../../../core/paths/crates.ts'
import { configPath, INDEX_FOLDER, indexPath, isListPath } from '../../../core/paths/tree.ts'
import { findCrate } from '../../records/crates.ts'
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

async function isOwned({ database }: BuildContext, path: string): Promise<boolean> {
  const [top, folder = ''] = path.split('/')
  const text = top === INDEX_FOLDER ? posix.basename(path) : folder
  const crate = isName(text) ? await findCrate(database, text) : null
  if (!crate) return false
  return top === INDEX_FOLDER
    ? indexPath(crate.name) === path
    : path.startsWith(`${crateFolder(crate.name)}/`)
}
