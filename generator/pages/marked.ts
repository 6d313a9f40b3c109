import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { Refusal } from '../../core/error/error.ts'
import { isStorageRefusal } from '../places/disk/fault.ts'
import type { PublicTree } from '../places/public-tree.ts'
import type { PageContext } from '../projections/context.ts'
import { type Pages, projectionOf } from '../projections/pages.ts'
import {
  currentMarks,
  type Mark,
  type MarkSubject,
  markAgain,
  postponeMark,
  settleMarks,
} from '../records/marks.ts'
import { sandbox } from '../sandbox/sandbox.ts'
import { hasPages } from './claim.ts'
import { BATCH } from './due.ts'

/** Callbacks of the rendering of pages. */
export interface PageWork {
  /** Awaited before each page, so that urgent work comes first. */
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
  work: PageWork = {},
): Promise<readonly Mark[] | null> {
  const batch = marks.slice(0, BATCH)
  return context.pageMutex.run(async () => {
    if (!(await hasPages(context))) return null
    context.pageMutex.ifLost(() => markAgain(context.database, batch))
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
async function renderAlone(context: PageContext, mark: Mark, work: PageWork): Promise<void> {
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
  marked: readonly Mark[],
  work: PageWork,
): Promise<void> {
  // Another process may have completed some.
  const queue = await currentMarks(context.database, marked)
  // Rendered, but not yet synced to disk.
  const done = new Map<string, Mark>()
  const again: MarkSubject[] = []
  const renderAll = async (tree: PublicTree): Promise<void> => {
    const within = { ...context, tree }
    const build = async (mark: Mark): Promise<void> => {
      try {
        // An earlier mark may have completed it.
        if (done.get(keyOf(mark))?.generation === mark.generation) return
        const others = queue.filter(
          other => other.kind === mark.kind && other !== mark && !done.has(keyOf(other)),
        )
        const finished = await rendererOf(context, mark).render(within, mark, others)
        for (const other of finished.done) {
          if (!done.has(keyOf(other))) work.onDone?.(other)
          done.set(keyOf(other), other)
        }
        again.push(...(finished.again ?? []))
        if (queue.length < 2 * BATCH) queue.push(...(finished.next ?? []))
      } catch (error) {
        if (isStorageRefusal(error)) throw error
        await postponeMark(context.database, mark, error, context.clock())
        work.onFailure?.(error)
      }
    }
    // It grows meanwhile.
    for (let at = 0; at < queue.length; ) {
      const { kind } = queue[at] as Mark
      const other = queue.findIndex((mark, place) => place > at && mark.kind !== kind)
      const ofKind = queue.slice(at, other < 0 ? queue.length : other)
      const most = projectionOf(context, kind)?.isParallel ? sandbox.size + 1 : 1
      await forEachConcurrently(
        ofKind,
        async mark => {
          await work.waitForIdle?.()
          await build(mark)
        },
        most,
      )
      at += ofKind.length
    }
  }
  await context.tree.batch(renderAll, context.pageMutex)
  await settleMarks(context.database, [...done.values()], again, async tx => {
    for (const onSettled of new Set(queue.map(mark => rendererOf(context, mark).onSettled)))
      await onSettled?.(tx, [...done.values()])
  })
}

function keyOf({ kind, subject }: Mark): string {
  return `${kind} ${subject}`
}

function rendererOf(context: PageContext, { kind }: Mark): Pages {
  const projection = projectionOf(context, kind)
  if (!projection) throw new Error(`no projection has marks of the kind ${kind}`)
  return projection
}
