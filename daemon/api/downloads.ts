import type { Context } from 'hono'
import * as v from 'valibot'
import { dateOf, dayOf, daysUntil } from '../../core/day-counts.ts'
import { newestFirst } from '../../core/version.ts'
import { CRATE_ROWS, RELEASE_ROWS, readDownloads } from '../../generator/records/downloads/read.ts'
import { findCard } from '../../generator/records/pages/cards.ts'
import { listVersions } from '../../generator/records/releases.ts'
import { crateOf } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { answer } from '../http/answer.ts'
import * as schema from './download-schema.ts'
import { foundVersion } from './lookup.ts'

/** Number of versions whose downloads crates.io lists one by one. */
const LISTED_VERSIONS = 5

/** `GET …/{name}/downloads`: the newest versions by day, and the sums of all others. */
export async function crateDownloads({ registry }: Deps, c: Context) {
  const { database, site } = registry
  const card = await crateOf(registry, c, findCard)
  const today = dayOf(registry.clock())
  const releases = newestFirst(await listVersions(database, card.id))
  const listed = releases.slice(0, LISTED_VERSIONS).map(release => release.id)
  const ofVersions = await readDownloads(database, RELEASE_ROWS, site.downloads ? listed : [])
  const ofCrates = await readDownloads(database, CRATE_ROWS, site.downloads ? [card.id] : [])
  const rest = daysUntil(ofCrates.get(card.id)?.days ?? null, today)
  for (const { days } of ofVersions.values())
    for (const [at, n] of daysUntil(days, today).entries()) rest[at] = (rest[at] ?? 0) - n
  return answer<typeof schema.crateDownloadsAnswer>(c, {
    version_downloads: listed.flatMap(version =>
      byDate(daysUntil(ofVersions.get(version)?.days ?? null, today), today).map(day => {
        return { version, ...day }
      }),
    ),
    meta: { extra_downloads: byDate(rest, today) },
  })
}

/** `GET …/{name}/{version}/downloads`: by day, until `before_date` or today. */
export async function versionDownloads({ registry }: Deps, c: Context) {
  const { release } = await foundVersion(registry, c)
  const { before_date = '' } = v.parse(schema.versionDownloadsQuery, c.req.query())
  const today = dayOf(registry.clock())
  const wanted = dayOf(new Date(/^\d{4}-\d\d-\d\d$/.test(before_date) ? before_date : ''))
  const last = Number.isNaN(wanted) ? today : Math.min(wanted, today)
  const ids = registry.site.downloads ? [release.id] : []
  const downloads = (await readDownloads(registry.database, RELEASE_ROWS, ids)).get(release.id)
  const days = byDate(daysUntil(downloads?.days ?? null, last), last)
  return answer<typeof schema.versionDownloadsAnswer>(c, {
    version_downloads: days.map(day => ({ version: release.id, ...day })),
  })
}

function byDate(days: readonly number[], last: number): { downloads: number; date: string }[] {
  return days.flatMap((downloads, at) =>
    downloads > 0 ? { downloads, date: dateOf(last - days.length + 1 + at) } : [],
  )
}
