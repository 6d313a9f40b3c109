import { crateDownloadsPlotPath } from '../../../core/paths/crates.ts'
import { downloadsPlotPath } from '../../../core/paths/tree.ts'
import { all } from '../../database/statement.ts'
import type { CrateRecord } from '../../records/crates.ts'
import { sumDownloads } from '../../records/downloads/due.ts'
import { markSelected, marksOf, SITE, setMarks } from '../../records/marks.ts'
import type { PageContext } from '../context.ts'
import { type Part, type Projection, renderer } from '../projection.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const files = () => import('./downloads.ts')

/** The files with the downloads of each crate, and of the registry. */
export const downloads: Projection = {
  kind: 'downloads',
  work: 'downloads of crates',
  of: 'crate',
  due: 'soon',
  async changed(tx, { crate, removed, at }) {
    if (removed.length > 0) await sumDownloads(tx, crate.id, new Date(at))
    return []
  },
  render: renderer(
    async (context, id) => (await files()).downloadOutputs(context, id),
    async (context, id) => (await files()).downloadPaths(context, id),
  ),
  async markAll(tx) {
    const shown = `SELECT crate_id AS subject, 0 AS generation FROM crate_downloads
      WHERE shown_at IS NOT NULL`
    await markSelected(tx, 'downloads', shown)
    await setMarks(tx, marksOf('downloads', [SITE]), 0)
  },
  // A file shows the days until it was rendered: it is not compared.
  async *parts(context) {
    yield missing(context, downloadsPlotPath, SITE)
    const sql = `SELECT id, name FROM crate_downloads JOIN crates ON id = crate_id
      WHERE shown_at IS NOT NULL ORDER BY id`
    for (const { id, name } of await all<Pick<CrateRecord, 'id' | 'name'>>(context.database, sql))
      yield missing(context, crateDownloadsPlotPath(name), id)
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
