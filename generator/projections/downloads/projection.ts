import { crateDownloadsPlotPath } from '../../../core/paths/crates.ts'
import { downloadsPlotPath } from '../../../core/paths/tree.ts'
import { eachCrate } from '../../records/crates.ts'
import {
  awaitsFirstDownloads,
  followFirstDownloads,
  sumDownloads,
} from '../../records/downloads/due.ts'
import { markSelected, marksOf, SITE, setMarks } from '../../records/marks.ts'
import type { PageContext } from '../context.ts'
import { type Projection, renderer } from '../projection.ts'

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
  follow: followFirstDownloads,
  async markAll(tx) {
    const select = 'SELECT crate_id AS subject, 0 AS generation FROM crate_downloads'
    await markSelected(tx, 'downloads', select)
    await setMarks(tx, marksOf('downloads', [SITE]), 0)
  },
  // A file shows the days until it was rendered: it is not compared.
  async *parts(context) {
    yield missing(context, downloadsPlotPath, SITE)
    for await (const { id, name } of eachCrate(context.database))
      yield missing(context, crateDownloadsPlotPath(name), id)
  },
}

function missing(context: PageContext, plot: string, subject: number) {
  return {
    about: plot,
    pending: () => awaitsFirstDownloads(context.database, subject),
    render: async () =>
      (await context.tree.has(plot)) ? [] : await (await files()).downloadOutputs(context, subject),
  }
}
