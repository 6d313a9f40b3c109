import { Refusal } from '../../core/error/error.ts'
import { cratePagePaths, versionPath } from '../../core/paths/crates.ts'
import { sitemapPartPath } from '../../core/paths/tree.ts'
import { sandbox } from '../sandbox/sandbox.ts'
import { followSearch } from '../search/layouts.ts'
import { buildSearch } from '../search/render.ts'
import { readCrate } from '../store/catalog/crates.ts'
import {
  isMarked,
  type Mark,
  type MarkSubject,
  postponeMark,
  settleMarks,
} from '../store/catalog/marks.ts'
import { newestReleaseMark } from '../store/catalog/pages/release-marks.ts'
import type { MarkKind } from '../store/database/mark-kinds.ts'
import type { Queries } from '../store/database/statement.ts'
import type { PublicTree } from '../store/public-tree.ts'
import { isStorageRefusal } from '../store/storage-fault.ts'
import { hasPages } from './claim.ts'
import { countCrate } from './contents.ts'
import type { PageContext } from './context.ts'
import { buildNamesakes, cratePages, releasePages } from './crate.ts'
import { buildDownloads, downloadPaths, missingDownloads } from './downloads.ts'
import { buildList } from './list.ts'
import { removeSitemaps, sitemapPartOutputs, sitePages } from './site.ts'
import { pruneSources } from './source.ts'
import {
  labelOutputs,
  labelPaths,
  pruneViews,
  userOutputs,
  userPaths,
  viewOutputs,
} from './views.ts'

/** Number of marks whose files are synced to disk together. */
const BATCH = 64

/** Kinds of marks that do not affect others of their kind; these are rendered concurrently. */
const INDEPENDENT: ReadonlySet<string> = new Set(['page', 'release'])

/** Callbacks of the rendering of pages. */
export interface PageWork {
  /** Awaited before each page, so that urgent work comes first. */
  readonly waitForIdle?: () => Promise<unknown>
  /** Called when a page failed; its mark is postponed. */
  readonly onFailure?: (error: unknown) => void
  /** Called with each completed mark. */
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
  const some = marks.slice(0, BATCH)
  return context.pageMutex.run(async () => {
    if (!(await hasPages(context))) return null
    try {
      await renderTogether(context, some, work)
    } catch (error) {
      if (!isFileRefused(error)) throw error
      // One of them has the file; the others are done without it.
      for (const mark of some) await renderAlone(context, mark, work)
    }
    return some
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
  some: readonly Mark[],
  work: PageWork,
): Promise<void> {
  // Rendered, but not yet synced to disk.
  const done = new Map<string, Mark>()
  const again: MarkSubject[] = []
  const renderAll = async (tree: PublicTree): Promise<void> => {
    const build = async (mark: Mark): Promise<void> => {
      try {
        // Another process or an earlier mark may have completed it.
        if (done.get(keyOf(mark))?.generation === mark.generation) return
        if (!(await isMarked(context.database, mark))) return
        context.pageMutex.rendering([mark])
        const finished = await render({ ...context, tree }, mark)
        for (const one of finished.done) {
          if (!done.has(keyOf(one))) work.onDone?.(one)
          done.set(keyOf(one), one)
        }
        again.push(...(finished.again ?? []))
      } catch (error) {
        if (isStorageRefusal(error)) throw error
        await postponeMark(context.database, mark, error, context.clock())
        work.onFailure?.(error)
      }
    }
    const running = new Set<Promise<void>>()
    // Of jobs that nobody may be waiting for when they fail.
    const failures: unknown[] = []
    try {
      for (const [at, mark] of some.entries()) {
        await work.waitForIdle?.()
        const isAlone = !INDEPENDENT.has(mark.kind)
        if (isAlone || mark.kind !== some[at - 1]?.kind) await Promise.all(running)
        else if (running.size > sandbox.size) await Promise.race(running)
        if (failures.length > 0) break
        const job = build(mark)
          .catch(error => void failures.push(error))
          .finally(() => running.delete(job))
        running.add(job)
        if (isAlone) await job
      }
    } finally {
      await Promise.all(running)
    }
    if (failures.length > 0) throw failures[0]
  }
  await context.tree.batch(renderAll, context.pageMutex)
  const isSearch = some.some(({ kind }) => kind === 'search' || kind === 'search-file')
  const follow = isSearch ? (tx: Queries) => followSearch(tx, [...done.values()]) : null
  await settleMarks(context.database, [...done.values()], again, follow)
}

function keyOf({ kind, subject }: Mark): string {
  return `${kind} ${subject}`
}

/** What rendering a mark has completed, and what has to be rendered again because of it. */
interface Rendered {
  readonly done: readonly Mark[]
  readonly again?: readonly MarkSubject[]
}

async function render(context: PageContext, mark: Mark): Promise<Rendered> {
  const { kind, subject } = mark
  if (kind === 'list') return { done: await buildList(context, mark) }
  if (kind === 'search' || kind === 'search-file') return { done: await buildSearch(context, mark) }
  if (kind === 'namesake') await buildNamesakes(context, subject)
  const again = kind === 'page' ? await countCrate(context, subject) : []
  // Read before the pages: a later change sets a new mark.
  const newest = kind === 'page' ? await newestReleaseMark(context.database, subject) : null
  const outputs = await OUTPUTS.get(kind)?.(context, subject, newest?.subject)
  if (kind === 'page' || kind === 'release') await pruneSources(context.tree, outputs ?? [])
  for (const output of outputs ?? []) await context.tree.write(output)
  if (outputs?.length === 0)
    for (const path of await pathsOf(context, mark)) await context.tree.remove(path)
  if (kind === 'views') await pruneViews(context, outputs ?? [])
  if (kind === 'site' && context.site.private) await removeSitemaps(context)
  const newestPage = newest && versionPath(newest.name, newest.version)
  const hasNewest = outputs?.some(one => one.path === newestPage)
  return { done: newest && hasNewest ? [mark, newest] : [mark], again }
}

type Renderer = typeof cratePages

/** Renderers by kind of mark, for files that depend on nothing but the subject of the mark. */
const OUTPUTS: ReadonlyMap<MarkKind, Renderer> = new Map([
  ['page', withDownloads(cratePages)],
  ['release', releasePages],
  ['map', sitemapPartOutputs],
  ['site', sitePages],
  ['label', labelOutputs],
  ['user', userOutputs],
  ['views', withDownloads(viewOutputs)],
  ['downloads', buildDownloads],
])

/** Adds the files with downloads that a page shows, if they are missing. */
function withDownloads(render: Renderer): Renderer {
  return async (context, subject, release) => [
    ...(await render(context, subject, release)),
    ...(await missingDownloads(context, subject)),
  ]
}

/** Returns the paths to remove when a mark no longer has files. */
async function pathsOf(context: PageContext, { kind, subject }: Mark): Promise<readonly string[]> {
  if (kind === 'map') return [sitemapPartPath(subject)]
  if (kind === 'label') return labelPaths(context, subject)
  if (kind === 'user') return userPaths(context, subject)
  if (kind === 'downloads') return downloadPaths(context, subject)
  const crate = kind === 'page' ? await readCrate(context.database, subject) : null
  return crate ? cratePagePaths(crate.name) : []
}
