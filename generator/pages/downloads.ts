import { DAYS_KEPT, dateOf, dayOf, daysUntil } from '../../core/day-counts.ts'
import { crateDownloadsPlotPath } from '../../core/paths/crates.ts'
import type { Output } from '../../core/paths/tree.ts'
import { compareVersions } from '../../core/version.ts'
import { downloadFiles } from '../../site/crate/downloads.ts'
import { type CrateRecord, readCrate } from '../store/catalog/crates.ts'
import { crateDownloads, hasDownloads, versionTotals } from '../store/catalog/downloads/read.ts'
import { listVersions } from '../store/catalog/releases.ts'
import type { PageContext } from './context.ts'
import { cratePages } from './crate.ts'

/** Renders what shows a crate's downloads, and its page if that does not show them yet. */
export async function buildDownloads(context: PageContext, crateId: number): Promise<Output[]> {
  const crate = await readCrate(context.database, crateId)
  const files = crate ? await downloadOutputs(context, crate) : []
  if (!crate || files.length === 0) return []
  const isShown = await context.tree.has(crateDownloadsPlotPath(crate.name))
  return [...files, ...(isShown ? [] : await cratePages(context, crateId))]
}

/** Renders the files that a crate's page shows, if they are missing, as after a restore. */
export async function missingDownloads(context: PageContext, crateId: number): Promise<Output[]> {
  const { database, tree, site } = context
  if (!site.downloads || !(await hasDownloads(database, crateId))) return []
  const crate = await readCrate(database, crateId)
  if (!crate || (await tree.has(crateDownloadsPlotPath(crate.name)))) return []
  return downloadOutputs(context, crate)
}

async function downloadOutputs(
  { database, site, clock }: PageContext,
  { id, name }: CrateRecord,
): Promise<Output[]> {
  const found = site.downloads ? (await crateDownloads(database, [id])).get(id) : undefined
  if (!found) return []
  const totals = await versionTotals(database, id)
  const versions = (await listVersions(database, id)).toSorted((a, b) =>
    compareVersions(b.version, a.version),
  )
  const last = dayOf(clock())
  const days = daysUntil(found.days, last).map((value, at) => {
    return { at: dateOf(last - DAYS_KEPT + 1 + at), value }
  })
  return downloadFiles({
    name,
    total: found.total,
    days,
    versions: new Map(
      versions.flatMap(one => {
        const total = totals.get(one.id)
        return total === undefined ? [] : [[one.version, total] as const]
      }),
    ),
  })
}
