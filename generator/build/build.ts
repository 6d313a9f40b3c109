import { type Issue, Refusal } from '../../core/error/error.ts'
import { configPath, INDEX_FOLDER } from '../../core/paths/tree.ts'
import { eachCrate, readCrate, registryCounts } from '../store/catalog/crates.ts'
import { readFact, writeFact } from '../store/catalog/facts.ts'
import { listMarks, type Mark, postponeMark } from '../store/catalog/marks.ts'
import { isStorageRefusal } from '../store/storage-fault.ts'
import { type BuildContext, buildCrate, rebuildCrate, renderConfig, sweepIndex } from './crate.ts'
import { orphans, removeOrphan } from './orphans.ts'

/**
 * Called during long work with what is being done, such as `rendering pages`, and how far it is.
 * A `total` of 0 is unknown.
 */
export type Progress = (step: string, done: number, total: number) => void

/** The result of a build. */
export interface Built {
  readonly crates: number
  /** The crates that could not be rendered; everything else was. */
  readonly issues: readonly Issue[]
}

const RENDERING = 'rendering index files'

/** Raise it when the same catalog gets a different tree: an upgrade then builds everything. */
const TREE_FORMAT = '1'

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
  await writeFact(context.database, 'tree_format', null)
  const built = await buildEverything(context, options.progress)
  await writeConfig(context)
  await writeFact(context.database, 'tree_format', TREE_FORMAT)
  return built
}

/** Renders every marked crate. */
export async function drain(context: BuildContext, progress?: Progress): Promise<Built> {
  const { database } = context
  const issues: Issue[] = []
  let crates = 0
  for (const { subject } of await listMarks(database, 'whole'))
    issues.push(...(await buildWhole(context, subject)))
  let marks = await listMarks(database, 'index')
  while (marks.length > 0) {
    for (const mark of marks) {
      await sweepAfterCrash(context, mark.subject)
      issues.push(...(await buildMarked(context, mark)))
      crates++
      progress?.(RENDERING, crates, Math.max(crates, marks.length))
    }
    marks = await listMarks(database, 'index', marks.at(-1)?.generation)
  }
  return { crates, issues }
}

/** Renders one crate again as `rebuildCrate` does; waits for the mutex. */
export function buildWhole(context: BuildContext, crateId: number): Promise<Issue[]> {
  return context.mutex.run(() => rebuildCrate(context, crateId))
}

async function buildEverything(context: BuildContext, progress?: Progress): Promise<Built> {
  progress?.('looking for leftover files', 0, 0)
  // Comes first: removes a link in place of a crate's folder before its target could be changed.
  for await (const path of orphans(context)) await removeOrphan(context, path)
  const { crates: total } = await registryCounts(context.database)
  const issues: Issue[] = []
  let crates = 0
  for await (const crate of eachCrate(context.database)) {
    issues.push(...(await buildWhole(context, crate.id)))
    crates++
    progress?.(RENDERING, crates, total)
  }
  await context.tree.sweepOld()
  return { crates, issues }
}

/** Removes half-written index files of a process that was killed while it rendered this crate. */
async function sweepAfterCrash(context: BuildContext, crateId: number): Promise<void> {
  await context.mutex.run(async () => {
    const crate = await readCrate(context.database, crateId)
    if (crate) await sweepIndex(context, crate.name)
  })
}

/** Renders a crate; its issues do not stop the others, but a full disk or a bug ends the build. */
async function buildMarked(context: BuildContext, mark: Mark): Promise<readonly Issue[]> {
  try {
    await buildCrate(context, mark.subject)
    return []
  } catch (error) {
    if (!(error instanceof Refusal) || isStorageRefusal(error)) throw error
    await postponeMark(context.database, mark, error, context.clock())
    return error.issues
  }
}

async function writeConfig(context: BuildContext): Promise<void> {
  await context.mutex.run(async () => {
    await context.tree.write(renderConfig(context.urls, context.authRequired))
    await context.tree.sweep(INDEX_FOLDER)
  })
}

async function isComplete(context: BuildContext): Promise<boolean> {
  if ((await readFact(context.database, 'tree_format')) !== TREE_FORMAT) return false
  return (await context.tree.read(configPath)) !== null
}
