// generator/pages: The one loop over marks (marked.ts), and what builds and workers run through it.
// It knows no kind of page.
import { type PageContext, type Progress, pageTurn } from '../projections/context.ts'
import type { Pages } from '../projections/pages.ts'
import { pagesOf } from '../projections/projection.ts'
import { markAllDueDownloads } from '../records/downloads/count.ts'
import { failedIssues, listFailedMarks, type Mark, retryAll } from '../records/marks.ts'
import type { Built } from './build.ts'
import { claimPages, markOutdatedPages } from './claim.ts'
import { BATCH, buildMarks, costOf, pageMarks, pageWork } from './marked.ts'

/** The result of rendering pages. */
export interface BuiltPages extends Built {
  readonly areLeft: boolean
}

/**
 * Renders every marked page (of some `kinds`), or all if they are missing or outdated. If a page
 * cannot be rendered, the `issues` report it and the others are rendered anyway.
 */
export async function buildPages(
  context: PageContext,
  options: { all?: boolean; progress?: Progress; kinds?: readonly string[] } = {},
): Promise<BuiltPages> {
  // The user of this command does not want to wait for the next retry.
  await retryAll(context.database)
  const now = context.clock()
  const claim = options.all ? claimPages : markOutdatedPages
  if (!(await claim(context))) return LEFT
  await markAllDueDownloads(context.database, now)
  let crates = 0
  const done = { count: 0, cost: 0 }
  let left = await pageWork(context)
  const due = () => pageMarks(context, now, BATCH, options.kinds)
  for (let marks = await due(); marks.length > 0; marks = await due()) {
    // Rendering a page may mark others.
    if (left.count <= 0) left = await pageWork(context)
    const onDone = ({ kind }: Mark) => {
      if (kind === 'page') crates++
      const cost = costOf(context, kind)
      done.count++
      done.cost += cost
      left = { count: Math.max(left.count - 1, 0), cost: Math.max(left.cost - cost, 0) }
      const share = done.cost / (done.cost + left.cost)
      options.progress?.('rendering pages', done.count, done.count + left.count, share)
    }
    if ((await buildMarks(context, marks, { onDone })) === null) return LEFT
  }
  // Holds the mutex: otherwise it would remove a page that a daemon renders meanwhile.
  if (options.all) options.progress?.('looking for leftover files', 0, 0)
  if (options.all) await pageTurn(context, tree => prunePages({ ...context, tree }))
  const issues = failedIssues(await listFailedMarks(context.database, context.followers))
  return { crates, issues, areLeft: false }
}

/** Daemons of a newer version render the pages. */
const LEFT: BuiltPages = { crates: 0, issues: [], areLeft: true }

/** Removes pages that the registry no longer has, except crate pages, which a build removes. */
async function prunePages(context: PageContext): Promise<void> {
  const { tree } = context
  const wanted = new Set<string>()
  const projections = pagesOf<PageContext>(context)
  for (const projection of projections)
    for (const path of await wantedBy(context, projection)) wanted.add(path)
  for (const { leftover } of projections) {
    if (!leftover) continue
    const { folders, among, isOwn = () => true } = leftover
    for (const folder of folders)
      for await (const path of tree.list(folder))
        if (isOwn(path) && !wanted.has(path)) await tree.remove(path)
    for (const path of among === undefined ? [] : await tree.files(among))
      if (isOwn(path) && !wanted.has(path)) await tree.remove(path)
  }
}

/** Returns the paths that a projection wants where there may be files that are left over. */
async function wantedBy(context: PageContext, projection: Pages): Promise<Iterable<string>> {
  const { leftover } = projection
  if (!leftover) return []
  if (leftover.paths) return leftover.paths(context)
  const paths: string[] = []
  for await (const part of projection.parts(context))
    for (const { path } of await part.render()) paths.push(path)
  return paths
}
