import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { Refusal } from '../../core/error/error.ts'
import { isStorageRefusal } from '../places/disk/fault.ts'
import type { PageContext } from '../projections/context.ts'
import { type Projection, pagesOf, projectionOf, projectionsOf } from '../projections/projection.ts'
import { RenderBatch } from '../projections/render-batch.ts'
import type { Records } from '../records/crate-change.ts'
import {
  type ChangeRange,
  countMarks,
  currentMarks,
  dueMarks,
  type Mark,
  postponeMark,
} from '../records/marks.ts'
import { sandbox } from '../sandbox/sandbox.ts'
import { hasPages } from './claim.ts'

/** Callbacks of the rendering of marks. */
export interface RenderWork {
  /** Awaited before each mark, so that urgent work comes first. */
  readonly waitForIdle?: () => Promise<unknown>
  readonly onFailure?: (error: unknown) => void
  readonly onDone?: (mark: Mark) => void
}

/**
 * Renders up to `BATCH` marks and clears them, except marks that were renewed meanwhile. Returns
 * the marks that it tried; null if the pages are those of another program (`claimPages`).
 */
export async function buildMarks(
  context: PageContext,
  marks: readonly Mark[],
  work: RenderWork = {},
): Promise<readonly Mark[] | null> {
  const batch = marks.slice(0, BATCH)
  return context.pageMutex.run(async () => {
    if (!(await hasPages(context))) return null
    context.pageMutex.renders(batch)
    try {
      await renderTogether(context, batch, work)
    } catch (error) {
      if (!isFileRefused(error)) throw error
      // One of them has the file; the others are done without it.
      for (const mark of batch) await renderAlone(context, mark, work)
    }
    return batch
  })
}

/** Renders a mark; puts it off when the storage refuses a file of it. */
async function renderAlone(context: PageContext, mark: Mark, work: RenderWork): Promise<void> {
  try {
    await renderTogether(context, [mark], work)
  } catch (error) {
    if (!isFileRefused(error)) throw error
    await postponeMark(context.database, mark, error, context.clock())
    work.onFailure?.(error)
  }
}

function isFileRefused(error: unknown): boolean {
  return error instanceof Refusal && error.has('file_refused')
}

/** Renders marks, syncs their files together, and clears them; the caller holds the mutex. */
async function renderTogether(
  context: PageContext,
  marks: readonly Mark[],
  work: RenderWork,
): Promise<void> {
  const batch = new RenderBatch(context, context.pageMutex)
  // Another process may have completed some.
  const left = await currentMarks(context.database, marks)
  await renderInto({ ...context, tree: batch.tree }, batch, left, work)
  await batch.settle()
}

/**
 * Renders marks of any projections into a batch, whose tree `context` has, and puts off those that
 * fail; a storage that refuses files stops it. The caller holds the mutex, and settles the batch.
 */
export async function renderInto<Context extends PageContext>(
  context: Context,
  batch: RenderBatch,
  marks: readonly Mark[],
  work: RenderWork,
): Promise<void> {
  const queue = [...marks]
  const tried = new Map<string, Mark>()
  const isTried = (mark: Mark) => (tried.get(keyOf(mark))?.generation ?? -1) >= mark.generation
  const fail = async (mark: Mark, error: unknown): Promise<void> => {
    if (isStorageRefusal(error)) throw error
    tried.set(keyOf(mark), mark)
    await postponeMark(context.database, mark, error, context.clock())
    work.onFailure?.(error)
  }
  const render = async (projection: Projection<Context>, mark: Mark): Promise<void> => {
    await work.waitForIdle?.()
    // An earlier mark may have completed it.
    if (isTried(mark)) return
    const others = queue.filter(
      other => other.kind === mark.kind && other !== mark && !tried.has(keyOf(other)),
    )
    try {
      const rendered = await projection.render(context, mark, others)
      for (const other of rendered.done) {
        if (!tried.has(keyOf(other))) work.onDone?.(other)
        tried.set(keyOf(other), other)
      }
      batch.add(rendered.done, rendered.again)
      if (queue.length < 2 * BATCH) queue.push(...(rendered.next ?? []))
      for (const [failed, error] of rendered.failed ?? []) await fail(failed, error)
    } catch (error) {
      await fail(mark, error)
    }
  }
  // It grows meanwhile.
  for (let at = 0; at < queue.length; ) {
    const { kind } = queue[at] as Mark
    const other = queue.findIndex((mark, place) => place > at && mark.kind !== kind)
    const ofKind = queue.slice(at, other < 0 ? queue.length : other)
    const projection = projectionsOf<Context>(context).find(each => each.kind === kind)
    if (!projection) throw new Error(`no projection has marks of the kind ${kind}`)
    const most = projection.isParallel ? sandbox.size + 1 : 1
    await forEachConcurrently(ofKind, mark => render(projection, mark), most)
    at += ofKind.length
  }
}

function keyOf({ kind, subject }: Mark): string {
  return `${kind} ${subject}`
}

/** Number of marks whose files are rendered in one turn of the mutex, and synced together. */
export const BATCH = 64

/** Returns the marks of pages that are due, in the order of `kinds`, as `dueMarks` does. */
export function pageMarks(
  records: Records,
  now: Date,
  limit = BATCH,
  kinds = pageKinds(records),
  skip?: ChangeRange,
): Promise<Mark[]> {
  const own = kinds.map(kind => projectionOf(records, kind) ?? { kind })
  return dueMarks(records.database, own, now, limit, skip)
}

function pageKinds(records: Records): readonly string[] {
  return pagesOf(records).map(({ kind }) => kind)
}

/** Returns what rendering a page of a kind takes, as a multiple of the cheapest. */
export function costOf(records: Records, kind: string): number {
  return projectionOf(records, kind)?.cost ?? 1
}

/** Counts the pages that wait to be rendered, and what they take together (`costOf`). */
export async function pageWork(records: Records): Promise<{ count: number; cost: number }> {
  const work = { count: 0, cost: 0 }
  for (const { kind, n } of await countMarks(records.database, pageKinds(records))) {
    work.count += n
    work.cost += n * costOf(records, kind)
  }
  return work
}
