// generator/projections/index: Index files and the `.crate` files beside them. Publishes wait for
// it; it never renders a page.
import { releaseOfPath } from '../../../core/paths/crates.ts'
import { LIST, run } from '../../database/statement.ts'
import { type CrateChange, type Follower, hasVersions } from '../../records/crate-change.ts'
import { markSelected, marksOf } from '../../records/marks.ts'
import { indexFiles } from '../../records/releases.ts'
import { isFollowedForGit } from '../../records/values.ts'
import type { FullContext } from '../context.ts'
import type { Projection } from '../projection.ts'

const isIndexed = (change: CrateChange) => hasVersions(change) && !change.isWords

/** The `.crate` files of the public tree: a release's has to be shown. */
export const crateFiles: Follower = {
  kind: 'file',
  work: 'downloads to show',
  of: 'release',
  async changed(tx, { added, removed }) {
    const gone = removed.map(version => version.id)
    const sql = `DELETE FROM marks WHERE kind = 'file' AND subject IN ${LIST}`
    if (gone.length > 0) await run(tx, sql, gone)
    return marksOf(
      'file',
      added.map(release => release.id),
    )
  },
}

/** Loaded when something is rendered: most commands only open the registry. */
const show = () => import('./show.ts')

/** A whole crate that has to be rendered again, and its leftover files removed. */
export const wholeCrates: Projection<FullContext> = {
  kind: 'whole',
  work: 'whole crates',
  of: 'crate',
  due: 'answer',
  changed: async (_, { crate, removed }) => marksOf('whole', removed.length > 0 ? [crate.id] : []),
  render: async (context, { subject }) => (await show()).showWhole(context, subject),
  markAll: tx => markSelected(tx, 'whole', 'SELECT id AS subject, generation FROM crates'),
  async *parts() {},
}

/** The index: `config.json`, and the index file and the `.crate` files of each crate. */
export const index: Projection<FullContext> = {
  kind: 'index',
  work: 'index files',
  of: 'crate',
  due: 'answer',
  changed: async (_, change) => marksOf('index', isIndexed(change) ? [change.crate.id] : []),
  async render(context, mark, others) {
    const ids = [mark, ...others].map(({ subject }) => subject)
    return (await show()).showCrates(context, await indexFiles(context.database, ids), true)
  },
  // With the whole crates.
  markAll: async () => undefined,
  async *parts(context) {
    yield* (await import('./parts.ts')).indexParts(context)
  },
  owns({ path, crate }) {
    const release = releaseOfPath(path)
    return release !== null && crate.versions.has(release.version)
  },
}

/** The git index: the index file of a crate has to be committed. */
export const gitIndex: Follower = {
  kind: 'git',
  work: 'git index entries',
  of: 'crate',
  changed: async (tx, change) =>
    marksOf('git', isIndexed(change) && (await isFollowedForGit(tx)) ? [change.crate.id] : []),
}
