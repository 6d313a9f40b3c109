import { DAYS_KEPT, dateOf, dayOf, daysUntil } from '../../../core/day-counts.ts'
import { crateDownloadsPaths } from '../../../core/paths/crates.ts'
import { downloadsPath, downloadsPlotPath, type Output } from '../../../core/paths/tree.ts'
import { newestFirst } from '../../../core/version.ts'
import { downloadFiles } from '../../../site/elements/downloads.ts'
import { type CrateRecord, readCrate } from '../../records/crates.ts'
import {
  CRATE_ROWS,
  type Downloads,
  readDownloads,
  registryDownloads,
  versionTotals,
} from '../../records/downloads/read.ts'
import { SITE } from '../../records/marks.ts'
import { listVersions } from '../../records/releases.ts'
import type { PageContext } from '../context.ts'

/** Renders the files with the downloads of a crate, or of the registry for `SITE`. */
export async function downloadOutputs(context: PageContext, subject: number): Promise<Output[]> {
  if (subject === SITE) return registryOutputs(context)
  const crate = await readCrate(context.database, subject)
  return crate ? crateOutputs(context, crate) : []
}

/** Returns the paths of what `downloadOutputs` renders. */
export async function downloadPaths({ database }: PageContext, subject: number): Promise<string[]> {
  if (subject === SITE) return [downloadsPath, downloadsPlotPath]
  const crate = await readCrate(database, subject)
  return crate ? crateDownloadsPaths(crate.name) : []
}

async function registryOutputs(context: PageContext): Promise<Output[]> {
  if (!context.site.downloads) return []
  const downloads = await registryDownloads(context.database, context.clock())
  return downloadFiles({ name: null, versions: new Map(), ...shownDays(context, downloads) })
}

async function crateOutputs(context: PageContext, { id, name }: CrateRecord): Promise<Output[]> {
  const { database, site } = context
  const counted = site.downloads
    ? (await readDownloads(database, CRATE_ROWS, [id])).get(id)
    : undefined
  if (!counted) return []
  const totals = await versionTotals(database, id)
  const versions = newestFirst(await listVersions(database, id)).flatMap(record => {
    const total = totals.get(record.id)
    return total === undefined ? [] : [[record.version, total] as const]
  })
  return downloadFiles({ name, versions: new Map(versions), ...shownDays(context, counted) })
}

function shownDays({ clock }: PageContext, { total, days }: Downloads) {
  const last = dayOf(clock())
  const points = daysUntil(days, last).map((value, at) => {
    return { at: dateOf(last - DAYS_KEPT + 1 + at), value }
  })
  return { total, days: points }
}
