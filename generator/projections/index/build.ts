import type { Issue } from '../../../core/error/error.ts'
import { configPath, INDEX_FOLDER } from '../../../core/paths/tree.ts'
import type { Queries } from '../../database/statement.ts'
import type { CrateStore } from '../../places/crate-store.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import { readValue, writeValue } from '../../records/values.ts'
import type { BuildContext, Progress } from '../context.ts'
import { renderConfig } from './config.ts'
import { IndexWriter } from './index-writer.ts'
import { type Built, everyCrate, markedCrates, showInTurns } from './many-crates.ts'
import { orphans, removeOrphan } from './orphans.ts'

export type { Built } from './many-crates.ts'

/** Raise it when the same records get a different tree: an upgrade then builds everything. */
export const TREE_FORMAT = '1'

/** Renders what changed, or everything if the tree is missing or has another format. */
export async function build(
  context: BuildContext,
  options: { all?: boolean; progress?: Progress } = {},
): Promise<Built> {
  if (!options.all && (await isComplete(context))) {
    await writeConfig(context)
    return drain(context, options.progress)
  }
  // The format is unset until the end, so a killed build starts over.
  await writeValue(context.database, 'tree_format', null)
  // Comes first: removes a link in place of a crate's folder before its target could be changed.
  for await (const path of orphans(context)) await removeOrphan(context, path)
  const built = await show(context, everyCrate(context.database), options.progress)
  await context.tree.sweepOld()
  await writeConfig(context)
  await recordComplete(context.database, context)
  return built
}

/** Renders every marked crate. */
export function drain(context: BuildContext, progress?: Progress): Promise<Built> {
  return show(context, markedCrates(context.database), progress)
}

function show(
  context: BuildContext,
  slices: ReturnType<typeof everyCrate>,
  progress?: Progress,
): Promise<Built> {
  return showInTurns(context, slices, (done, total) =>
    progress?.('rendering index files', done, total),
  )
}

/** Shows one crate again as `showWhole` does; waits for the mutex. */
export function buildWhole(context: BuildContext, crateId: number): Promise<Issue[]> {
  return context.mutex.run(() => rebuildCrate(context, crateId))
}

/** Does the work of `buildWhole` for a caller that holds the mutex. */
export async function rebuildCrate(context: BuildContext, crateId: number): Promise<Issue[]> {
  const writer = new IndexWriter(context, true)
  const lost = await writer.showWhole(crateId)
  await writer.settle()
  return lost
}

async function writeConfig(context: BuildContext): Promise<void> {
  await context.mutex.run(async () => {
    await context.tree.write(renderConfig(context.urls, context.authRequired))
    await context.tree.sweep(INDEX_FOLDER)
  })
}

/** A tree, and the crate store whose files it shows. */
interface ShownCrates {
  readonly crates: Pick<CrateStore, 'isLocal'>
  readonly tree: Pick<PublicTree, 'place' | 'shared'>
}

/** Returns the record of a complete tree: where it is, and which parts it lacks. */
function formatOf({ crates, tree: { place, shared } }: ShownCrates): string {
  // They are to be shown when they are in a folder again.
  const lack = crates.isLocal || shared ? null : 'without .crate files'
  return [TREE_FORMAT, place, lack].filter(text => text !== null).join(' ')
}

/** Returns whether the whole tree was rendered, but for what is marked. */
export async function isComplete(context: BuildContext): Promise<boolean> {
  const { database, tree } = context
  if ((await readValue(database, 'tree_format')) !== formatOf(context)) return false
  return (await tree.read(configPath)) !== null
}

/** Records that a tree is complete. */
export function recordComplete(db: Queries, shown: ShownCrates): Promise<void> {
  return writeValue(db, 'tree_format', formatOf(shown))
}
