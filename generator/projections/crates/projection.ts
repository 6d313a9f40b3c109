// generator/projections/crates: The pages of a crate and its versions. The list of projections has
// it; no other imports it.
import { canonicalName, type Name } from '../../../core/name.ts'
import {
  badgePath,
  comparePath,
  crateFeedPath,
  cratePath,
  crateRecordPath,
  latestPath,
  VERSIONS_SHOWN,
  versionsPath,
} from '../../../core/paths/crates.ts'
import { compareVersions, type Version } from '../../../core/version.ts'
import { LIST, type Queries, run } from '../../database/statement.ts'
import type { CrateChange } from '../../records/crate-change.ts'
import { namesakesOf } from '../../records/listing.ts'
import { type MarkSubject, marksOf } from '../../records/marks.ts'
import { readPageCrate } from '../../records/pages/cards.ts'
import { EVERY_RELEASE, listIdentities, type Numbered } from '../../records/releases.ts'
import { bySubject, type Pages, replaceFiles } from '../pages.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const [pages, sources] = [() => import('./crate.ts'), () => import('./source.ts')]

/** Its paths that are rendered from all versions of a crate, besides the page of many. */
const pathsOf = (name: Name) =>
  [crateRecordPath, crateFeedPath, badgePath, cratePath, latestPath, comparePath].map(pathOf =>
    pathOf(name),
  )

/** The pages of each crate, besides those of its versions; its record and its feed. */
export const cratePages: Pages = {
  kind: 'page',
  work: 'crate pages',
  of: 'crate',
  due: 'soon',
  cost: 40,
  isParallel: true,
  async changed(tx, { crate, before, after, uses }) {
    const cameOrWent = (before === null) !== (after === null)
    const namesakes = cameOrWent ? await namesakesOf(tx, canonicalName(crate.name)) : []
    return marksOf('page', [crate.id, ...uses.map(use => use.id), ...namesakes])
  },
  ...bySubject(
    'page',
    'SELECT id AS subject, generation, name AS about FROM crates',
    async (context, id) => {
      const crate = await readPageCrate(context.database, id)
      const alone = crate && { ...crate, newestMark: null }
      return alone ? (await (await pages()).cratePages(context, alone)).outputs : []
    },
  ),
  async render(context, mark) {
    // Read before the pages: a later change sets a new mark.
    const crate = await readPageCrate(context.database, mark.subject)
    if (!crate) return { done: [mark] }
    const { outputs, newest } = await (await pages()).cratePages(context, crate)
    await (await sources()).pruneSources(context.tree, outputs)
    const isGone = outputs.length === 0
    const gone = isGone ? [...pathsOf(crate.name), versionsPath(crate.name)] : []
    await replaceFiles(context, outputs, gone)
    return { done: newest ? [mark, newest] : [mark] }
  },
  owns: ({ path, crate }) =>
    pathsOf(crate.name).includes(path) ||
    (path === versionsPath(crate.name) && crate.versions.size > VERSIONS_SHOWN),
}

/** The files of a version, by their paths in its folder. */
const OF_VERSION = /^(?:(?:(?:changes|src)\/)?index\.html|images\/[^/]+)$/

/** The pages of each version. */
export const versionPages: Pages = {
  kind: 'release',
  work: 'version pages',
  of: 'release',
  due: 'soon',
  cost: 12,
  isParallel: true,
  changed: changedReleases,
  // A deletion has the whole crate rendered again.
  ...bySubject('release', EVERY_RELEASE, async (context, id) =>
    (await pages()).releasePages(context, id),
  ),
  async render(context, mark) {
    const outputs = await (await pages()).releasePages(context, mark.subject)
    await (await sources()).pruneSources(context.tree, outputs)
    await replaceFiles(context, outputs, [])
    return { done: [mark] }
  },
  owns: ({ version, file }) => version !== null && OF_VERSION.test(file),
}

/** Returns the marks of the versions whose pages show a change of their crate. */
export async function changedReleases(
  tx: Queries,
  { crate, before, added, altered, removed }: CrateChange,
): Promise<readonly MarkSubject[]> {
  const gone = removed.map(version => version.id)
  const sql = `DELETE FROM marks WHERE kind = 'release' AND subject IN ${LIST}`
  if (gone.length > 0) await run(tx, sql, gone)
  const own = [...added, ...altered].map(version => version.id)
  const moved = [...added, ...removed]
  // The first version of a crate changes no other page.
  if (moved.length === 0 || (before === null && moved.length === 1)) return marksOf('release', own)
  const versions = await listIdentities(tx, crate.id)
  // Many change together in an import only.
  if (moved.length > 1) return marksOf('release', [...own, ...versions.map(({ id }) => id)])
  return marksOf('release', [...own, ...moved.flatMap(({ version }) => nextOf(versions, version))])
}

/**
 * Returns the id of the next higher version, if there is one: its pages show the changes since the
 * version before it, which was added or removed.
 */
function nextOf(versions: readonly Numbered[], version: Version): number[] {
  const higher = versions.filter(other => compareVersions(other.version, version) > 0)
  const [next] = higher.sort((a, b) => compareVersions(a.version, b.version))
  return next ? [next.id] : []
}
