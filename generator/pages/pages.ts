import { CRATES_FOLDER } from '../../core/paths/crates.ts'
import { IMAGES_FOLDER, isOldImagePath } from '../../core/paths/images.ts'
import { OVERVIEW_FOLDERS } from '../../core/paths/listings.ts'
import { SEARCH_FOLDER } from '../../core/paths/search.ts'
import {
  FEEDS_FOLDER,
  isListPath,
  SITEMAP_CRATES,
  SITEMAPS_FOLDER,
  sitemapPartPath,
  sitemapPath,
} from '../../core/paths/tree.ts'
import type { Built, Progress } from '../build/build.ts'
import { searchPaths } from '../search/layouts.ts'
import { markAllDueDownloads } from '../store/catalog/downloads/due.ts'
import { failedIssues, listFailedMarks, type Mark, retryAll } from '../store/catalog/marks.ts'
import { rangesOf } from '../store/catalog/pages/id-ranges.ts'
import { countPageMarks, pageMarks } from '../store/catalog/pages/page-marks.ts'
import type { PageKind } from '../store/database/mark-kinds.ts'
import { claimPages, markOutdatedPages } from './claim.ts'
import { type PageContext, pageTurn } from './context.ts'
import { listOutputs } from './list.ts'
import { buildMarks } from './marked.ts'
import { sitePages } from './site.ts'
import { overviewMarks, overviewOutputs } from './views.ts'

/** The result of rendering pages. */
export interface BuiltPages extends Built {
  /** Whether they are left to daemons of a newer version. */
  readonly areLeft: boolean
}

/**
 * Renders every marked page (of some `kinds`), or all if they are missing or outdated. If a page
 * cannot be rendered, the `issues` report it and the others are rendered anyway.
 */
export async function buildPages(
  context: PageContext,
  options: { all?: boolean; progress?: Progress; kinds?: readonly PageKind[] } = {},
): Promise<BuiltPages> {
  // The user of this command does not want to wait for the next retry.
  await retryAll(context.database)
  const now = context.clock()
  const claim = options.all ? claimPages : markOutdatedPages
  if (!(await claim(context))) return LEFT
  await markAllDueDownloads(context.database, now)
  let [crates, done] = [0, 0]
  let total = await countPageMarks(context.database)
  const due = () => pageMarks(context.database, now, 500, options.kinds)
  for (let marks = await due(); marks.length > 0; marks = await due()) {
    // Rendering a page may mark others.
    if (done >= total) total = done + (await countPageMarks(context.database))
    const onDone = ({ kind }: Mark) => {
      if (kind === 'page') crates++
      options.progress?.('rendering pages', ++done, Math.max(done, total))
    }
    if ((await buildMarks(context, marks, { onDone })) === null) return LEFT
  }
  // Holds the mutex: otherwise it would remove a page that a daemon renders meanwhile.
  if (options.all) options.progress?.('looking for leftover files', 0, 0)
  if (options.all) await pageTurn(context, tree => prunePages({ ...context, tree }))
  const issues = failedIssues(await listFailedMarks(context.database))
  return { crates, issues, areLeft: false }
}

/** Daemons of a newer version render the pages. */
const LEFT: BuiltPages = { crates: 0, issues: [], areLeft: true }

/** Removes pages that the registry no longer has, except crate pages, which a build removes. */
async function prunePages(context: PageContext): Promise<void> {
  const { tree, database } = context
  const wanted = new Set((await sitePages(context)).map(one => one.path))
  for await (const output of listOutputs(context)) wanted.add(output.path)
  for await (const mark of overviewMarks(context))
    for (const output of await overviewOutputs(context, mark)) wanted.add(output.path)
  for (const part of context.site.private ? [] : await rangesOf(database, SITEMAP_CRATES))
    wanted.add(sitemapPartPath(part))
  for (const path of await searchPaths(database)) wanted.add(path)
  for (const folder of [FEEDS_FOLDER, SEARCH_FOLDER, SITEMAPS_FOLDER, ...OVERVIEW_FOLDERS]) {
    for await (const path of tree.list(folder)) if (!wanted.has(path)) await tree.remove(path)
  }
  for await (const path of tree.list(IMAGES_FOLDER))
    if (isOldImagePath(path)) await tree.remove(path)
  const own = (await tree.files(CRATES_FOLDER)).filter(isListPath)
  for (const path of [...own, sitemapPath]) if (!wanted.has(path)) await tree.remove(path)
}
