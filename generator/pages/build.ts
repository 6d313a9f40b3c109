import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { type Issue, Refusal } from '../../core/error/error.ts'
import { configPath, INDEX_FOLDER } from '../../core/paths/tree.ts'
import { pace } from '../database/pace.ts'
import type { Queries } from '../database/statement.ts'
import type { CrateStore } from '../places/crate-store.ts'
import { disk } from '../places/disk/disk.ts'
import { isBucketRefusal } from '../places/disk/fault.ts'
import { sweepFolder } from '../places/disk/files.ts'
import type { PublicTree } from '../places/public-tree.ts'
import type { BuildContext, FullContext, Progress } from '../projections/context.ts'
import { renderConfig } from '../projections/index/config.ts'
import { orphans, removeOrphan } from '../projections/index/orphans.ts'
import { type Projection, projectionsOf } from '../projections/projection.ts'
import { RenderBatch } from '../projections/render-batch.ts'
import { countMarks, lastMarked, listMarksAfter, type SizedMark } from '../records/marks.ts'
import { readValue, writeValue } from '../records/values.ts'
import { renderInto } from './marked.ts'

/** Raise it when the same records get a different tree: an upgrade then builds everything. */
export const TREE_FORMAT = '1'

/** How long one hold of the process mutex lasts, in milliseconds: publishes get in between. */
const HOLD_MS = 200

/** The most crates, and about the most versions, that are read by one statement. */
const CRATES = 100
const VERSIONS = 500

/** The most marks that wait for a common sync, which folders need once; uploads need not wait. */
const MARKS_MAX = 250_000
const UPLOADED_MAX = 10_000

/** A thread that writes while others read pays for its start from this many crates on. */
const THREAD_FROM = 500

/** The result of a build. */
export interface Built {
  readonly crates: number
  /** The crates that could not be rendered; everything else was. */
  readonly issues: readonly Issue[]
}

/** Returns the projections that publishers wait for. */
export function urgentOf(context: FullContext): readonly Projection<FullContext>[] {
  return projectionsOf<FullContext>(context).filter(({ due }) => due === 'answer')
}

/** Renders what changed, or everything if the tree is missing or has another format. */
export async function build(
  context: FullContext,
  options: { all?: boolean; progress?: Progress } = {},
): Promise<Built> {
  if (!options.all && (await isComplete(context))) {
    await writeConfig(context)
    return drain(context, options.progress)
  }
  const { database, tree } = context
  // The format is unset until the end, so a killed build starts over.
  await writeValue(database, 'tree_format', null)
  // Comes first: removes a link in place of a crate's folder before its target could be changed.
  for await (const path of orphans(context)) await removeOrphan(context, path)
  await database.transaction(async tx => {
    for (const projection of urgentOf(context)) await projection.markAll(tx)
  })
  const built = await drain(context, options.progress)
  await sweepFolder(tree.root)
  await writeConfig(context)
  await recordComplete(database, context)
  return built
}

/**
 * Renders what publishers wait for and is marked when this begins: crates that are published
 * meanwhile have somebody who renders them, and could be followed without end. A crate that fails
 * does not stop the others.
 */
export async function drain(context: FullContext, progress?: Progress): Promise<Built> {
  const { database, tree } = context
  const issues: Issue[] = []
  let failure: unknown = null
  const onFailure = (error: unknown) => {
    if (error instanceof Refusal) issues.push(...error.issues)
    else failure ??= error
  }
  const batch = new RenderBatch(context)
  const within = { ...context, tree: batch.tree }
  const kinds = urgentOf(context).map(({ kind }) => kind)
  const total = (await countMarks(database, kinds)).reduce((sum, { n }) => sum + n, 0)
  let crates = 0
  const render = async (marks: readonly SizedMark[]) => {
    await renderInto(within, batch, marks, { onFailure })
    crates += marks.length
    progress?.('rendering index files', crates, Math.max(crates, total))
    // If no thread works for the disk, only this leaves the event loop to others.
    await pace()
  }
  const settle = () =>
    batch.settle().catch((error: unknown) => {
      // The copy of the tree could not follow; the tree itself goes on.
      if (!tree.mirror || !isBucketRefusal(error)) throw error
      failure ??= error
    })
  for (const kind of kinds) {
    const last = await lastMarked(database, kind)
    for (let after = 0; after < last; ) {
      const marks = await listMarksAfter(database, kind, after, last)
      after = marks.at(-1)?.subject ?? last
      if (marks.length >= THREAD_FROM) disk.useThread()
      while (marks.length > 0) await context.mutex.run(() => renderFor(HOLD_MS, marks, render))
      if (batch.size >= (tree.isFollowed ? UPLOADED_MAX : MARKS_MAX)) await settle()
    }
    await settle()
  }
  if (failure !== null) throw failure
  return { crates, issues }
}

/** Renders the first ones of `left` and takes them out; the next ones are read meanwhile. */
function renderFor(
  ms: number,
  left: SizedMark[],
  render: (marks: readonly SizedMark[]) => Promise<void>,
): Promise<void> {
  const end = performance.now() + ms
  function* groups() {
    do {
      let [crates, versions] = [0, 0]
      while (crates < Math.min(CRATES, left.length) && versions < VERSIONS)
        versions += left[crates++]?.versions ?? 0
      yield left.splice(0, crates)
    } while (left.length > 0 && performance.now() < end)
  }
  return forEachConcurrently(groups(), render, 2)
}

async function writeConfig(context: BuildContext): Promise<void> {
  await context.mutex.run(async () => {
    await context.tree.write(renderConfig(context.urls, context.authRequired))
    await context.tree.sweep(INDEX_FOLDER)
  })
}

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
