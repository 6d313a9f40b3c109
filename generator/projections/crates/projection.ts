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
import { marksOf } from '../../records/marks.ts'
import { readPageCrate } from '../../records/pages/cards.ts'
import { namesakesOf } from '../../records/pages/dependents.ts'
import { EVERY_RELEASE } from '../../records/releases.ts'
import { bySubject, type Pages, replaceFiles } from '../pages.ts'
import { changedReleases } from './change.ts'

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
