import { DAYS_KEPT, dateOf, dayOf, daysUntil } from '../../core/day-counts.ts'
import {
  crateDownloadsPath,
  crateDownloadsPaths,
  crateDownloadsPlotPath,
  cratePath,
} from '../../core/paths/crates.ts'
import { downloadsPath, downloadsPlotPath, type Output } from '../../core/paths/tree.ts'
import { compareVersions } from '../../core/version.ts'
import { downloadFiles } from '../../site/elements/downloads.ts'
import { relativeLink } from '../../site/elements/links.ts'
import { type CrateRecord, readCrate } from '../store/catalog/crates.ts'
import {
  crateDownloads,
  type Downloads,
  hasDownloads,
  registryDownloads,
  versionTotals,
} from '../store/catalog/downloads/read.ts'
import { listVersions } from '../store/catalog/releases.ts'
import { SITE } from '../store/database/mark-kinds.ts'
import type { PageContext } from './context.ts'
import { cratePages } from './crate.ts'

/**
 * Renders what shows the downloads of a crate, and its page if that does not show them yet; for
 * `SITE` those of the registry.
 */
export async function buildDownloads(context: PageContext, subject: number): Promise<Output[]> {
  if (subject === SITE) return registryOutputs(context)
  const crate = await readCrate(context.database, subject)
  const files = crate ? await crateOutputs(context, crate) : []
  if (!crate || files.length === 0) return []
  return [...files, ...((await isShown(context, crate)) ? [] : await cratePages(context, subject))]
}

/**
 * The page itself says so: the files may be there without it after a crash or a failed upload. A
 * README can have such a link, but no such attribute.
 */
async function isShown({ tree }: PageContext, { name }: CrateRecord): Promise<boolean> {
  const path = cratePath(name)
  const page = await tree.read(path)
  return page?.includes(`data-numbers="${relativeLink(path, crateDownloadsPath(name))}"`) ?? false
}

/** Returns the paths of what `buildDownloads` renders, besides the page. */
export async function downloadPaths({ database }: PageContext, subject: number): Promise<string[]> {
  if (subject === SITE) return [downloadsPath, downloadsPlotPath]
  const crate = await readCrate(database, subject)
  return crate ? crateDownloadsPaths(crate.name) : []
}

/** Renders the files that a page shows, if they are missing, as after a restore. */
export async function missingDownloads(context: PageContext, subject: number): Promise<Output[]> {
  const { database, tree, site } = context
  if (!site.downloads) return []
  if (subject === SITE) return (await tree.has(downloadsPlotPath)) ? [] : registryOutputs(context)
  const crate = (await hasDownloads(database, subject)) ? await readCrate(database, subject) : null
  if (!crate || (await tree.has(crateDownloadsPlotPath(crate.name)))) return []
  return crateOutputs(context, crate)
}

async function registryOutputs(context: PageContext): Promise<Output[]> {
  if (!context.site.downloads) return []
  const downloads = await registryDownloads(context.database)
  return downloadFiles({ name: null, versions: new Map(), ...shownDays(context, downloads) })
}

async function crateOutputs(context: PageContext, { id, name }: CrateRecord): Promise<Output[]> {
  const { database, site } = context
  const found = site.downloads ? (await crateDownloads(database, [id])).get(id) : undefined
  if (!found) return []
  const totals = await versionTotals(database, id)
  const versions = (await listVersions(database, id))
    .toSorted((a, b) => compareVersions(b.version, a.version))
    .flatMap(one => {
      const total = totals.get(one.id)
      return total === undefined ? [] : [[one.version, total] as const]
    })
  return downloadFiles({ name, versions: new Map(versions), ...shownDays(context, found) })
}

function shownDays({ clock }: PageContext, { total, days }: Downloads) {
  const last = dayOf(clock())
  const points = daysUntil(days, last).map((value, at) => {
    return { at: dateOf(last - DAYS_KEPT + 1 + at), value }
  })
  return { total, days: points }
}
