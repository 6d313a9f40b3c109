import { canonicalName } from '../../../core/name.ts'
import { cratePagePaths } from '../../../core/paths/crates.ts'
import { IMAGES_FOLDER, isOldImagePath } from '../../../core/paths/images.ts'
import { eachCrate } from '../../records/crates.ts'
import { markSelected, marksOf } from '../../records/marks.ts'
import { namesakesOf } from '../../records/pages/dependents.ts'
import { listVersions } from '../../records/releases.ts'
import { type Projection, renderer, replaceFiles } from '../projection.ts'
import { changedReleases, readPageCrate } from './change.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const [pages, sources] = [() => import('./crate.ts'), () => import('./source.ts')]

/** The pages of each crate, besides those of its versions; its record and its feed. */
export const cratePages: Projection = {
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
  async render(context, mark) {
    // Read before the pages: a later change sets a new mark.
    const crate = await readPageCrate(context.database, mark.subject)
    if (!crate) return { done: [mark] }
    const { outputs, newest } = await (await pages()).cratePages(context, crate)
    await (await sources()).pruneSources(context.tree, outputs)
    await replaceFiles(context, outputs, outputs.length === 0 ? cratePagePaths(crate.name) : [])
    return { done: newest ? [mark, newest] : [mark] }
  },
  markAll: tx => markSelected(tx, 'page', 'SELECT id AS subject, generation FROM crates'),
  async *parts(context) {
    for await (const { id, name } of eachCrate(context.database)) {
      const render = async () => {
        const crate = await readPageCrate(context.database, id)
        const alone = crate && { ...crate, newestMark: null }
        return alone ? (await (await pages()).cratePages(context, alone)).outputs : []
      }
      yield { about: name, pending: { kind: 'page', subject: id }, render }
    }
  },
  // Earlier versions kept images of other hosts.
  leftover: { folders: [IMAGES_FOLDER], isOwn: isOldImagePath, paths: async () => [] },
}

/** The pages of each version. */
export const versionPages: Projection = {
  kind: 'release',
  work: 'version pages',
  of: 'release',
  due: 'soon',
  cost: 12,
  isParallel: true,
  changed: changedReleases,
  // A deletion has the whole crate rendered again.
  render: renderer(async (context, subject) => {
    const outputs = await (await pages()).releasePages(context, subject)
    await (await sources()).pruneSources(context.tree, outputs)
    return outputs
  }),
  markAll: tx =>
    markSelected(
      tx,
      'release',
      `SELECT releases.id AS subject, generation FROM releases
        JOIN crates ON crates.id = crate_id`,
    ),
  async *parts(context) {
    for await (const crate of eachCrate(context.database))
      for (const { id } of await listVersions(context.database, crate.id))
        yield {
          about: crate.name,
          pending: { kind: 'release', subject: id },
          render: async () => (await pages()).releasePages(context, id),
        }
  },
}
