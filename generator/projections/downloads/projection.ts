// generator/projections/downloads: The numbers of downloads. The list of projections has it; no
// other imports it.
import type { Name } from '../../../core/name.ts'
import { crateDownloadsPaths, crateDownloadsPlotPath } from '../../../core/paths/crates.ts'
import { downloadsPlotPath } from '../../../core/paths/tree.ts'
import { all } from '../../database/statement.ts'
import { sumDownloads } from '../../records/downloads/count.ts'
import { SITE } from '../../records/marks.ts'
import type { PageContext } from '../context.ts'
import { bySubject, type Pages } from '../pages.ts'
import type { Part } from '../projection.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const files = () => import('./downloads.ts')

/** Selects the crates whose files there are, or which are marked. */
const SHOWN = `SELECT id AS subject, 0 AS generation, name AS about
  FROM crate_downloads JOIN crates ON id = crate_id WHERE shown_at IS NOT NULL`

/** The files with the downloads of each crate, and of the registry. */
export const downloads: Pages = {
  kind: 'downloads',
  work: 'downloads of crates',
  of: 'crate',
  due: 'soon',
  async changed(tx, { crate, removed, at }) {
    if (removed.length > 0) await sumDownloads(tx, crate.id, new Date(at))
    return []
  },
  ...bySubject(
    'downloads',
    `SELECT ${SITE} AS subject, 0 AS generation, '' AS about UNION ALL ${SHOWN}`,
    async (context, id) => (await files()).downloadOutputs(context, id),
    async (context, id) => (await files()).downloadPaths(context, id),
  ),
  owns: ({ path, crate }) => crateDownloadsPaths(crate.name).includes(path),
  // A file shows the days until it was rendered: it is not compared.
  async *parts(context) {
    yield missing(context, downloadsPlotPath, SITE)
    const crates = await all<{ subject: number; about: Name }>(context.database, SHOWN)
    for (const { subject, about } of crates)
      yield missing(context, crateDownloadsPlotPath(about), subject)
  },
}

function missing(context: PageContext, plot: string, subject: number): Part {
  return {
    about: plot,
    pending: { kind: 'downloads', subject },
    render: async () =>
      (await context.tree.has(plot)) ? [] : (await files()).downloadOutputs(context, subject),
  }
}
