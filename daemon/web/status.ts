import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import {
  countDueImages,
  countMarksUpTo,
  DATABASE_FILE,
  first,
  listFailedMarks,
  listFailures,
  listPlainPages,
  type Registry,
  registryTotals,
  runningVersion,
  timestamp,
} from '../../generator/index.ts'
import { type StatusData, statusPage } from '../../site/account/status-page.ts'
import type { SessionHandler } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { page } from '../http/page.ts'
import { viewerOf } from './notice.ts'

/** How many milliseconds the numbers are reused, so that reloading causes no work. */
const HOLDS_MS = 2000

/** The most pending work of a kind that is counted. */
const COUNTED = 10_000

/** The most pages shown as plain text that are listed. */
const PLAIN_SHOWN = 50

/** `GET /me/admin/status`: what `plimsoll status` knows. Its cost has a limit in any registry. */
export function status({ registry, clock, git }: Deps): SessionHandler {
  type Facts = Omit<StatusData, 'viewer'>
  let latest: { readonly at: number; readonly facts: Promise<Facts> } | null = null
  return async (c, request) => {
    const at = clock().getTime()
    if (latest === null || Math.abs(at - latest.at) >= HOLDS_MS)
      latest = { at, facts: readStatus(registry, clock(), git !== null) }
    const data = { ...(await latest.facts), viewer: viewerOf(request) }
    return page(c, registry.site, statusPage(registry.site, data))
  }
}

async function readStatus(
  { database, dir, tree, settings }: Registry,
  now: Date,
  hasGit: boolean,
): Promise<Omit<StatusData, 'viewer'>> {
  const { crates, releases, users } = await registryTotals(database)
  const images = await countDueImages(database, COUNTED + 1)
  const work = [...(await countMarksUpTo(database, COUNTED + 1)), { kind: 'image', n: images }]
  const pending = work
    .filter(({ n }) => n > 0)
    .map(({ kind, n }) => ({ kind, n: Math.min(n, COUNTED), isMore: n > COUNTED }))
  const errors = (await listFailures(database)).sort((a, b) => (a.at < b.at ? 1 : -1))
  const failed = await listFailedMarks(database)
  const plain = await listPlainPages(database, PLAIN_SHOWN)
  const row = await first<{ version: string }>(database, 'SELECT sqlite_version() AS version')
  const none = { crate: null, version: null, retryAt: null }
  return {
    at: timestamp(now),
    started: timestamp(now, -process.uptime()),
    crates,
    versions: releases,
    users,
    disks: await readDisks(dir, tree.root),
    databaseBytes: (await stat(join(dir, DATABASE_FILE))).size,
    memoryBytes: process.memoryUsage.rss(),
    programs: [
      ['Plimsoll', runningVersion()],
      ['Node.js', process.versions.node],
      ['SQLite', row?.version ?? ''],
    ],
    gitIndex: hasGit ? 'kept by this daemon' : `none; \`git.index\` is "${settings.git.index}"`,
    pending,
    errors: errors.map(one => ({ ...none, ...one })),
    failed: failed.map(({ kind, crate, version, attempts, retryAt, error }) => {
      const what = `${kind}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
      return { what, crate, version, why: error, at: null, retryAt }
    }),
    plain: plain.map(({ what, name, version, because, at }) => {
      return { what, crate: name, version, why: `because ${because}`, at, retryAt: null }
    }),
  }
}

/** Returns the free and total bytes of the file systems, each one once. */
async function readDisks(dir: string, tree: string): Promise<StatusData['disks']> {
  const read = async (what: string, path: string) => {
    const { bavail, blocks, bsize } = await statfs(path)
    return { what, free: bavail * bsize, size: blocks * bsize }
  }
  const hasOne = !(await isThere(tree)) || (await stat(dir)).dev === (await stat(tree)).dev
  if (hasOne) return [await read('Disk', dir)]
  return [await read('Disk of the registry', dir), await read('Disk of the public tree', tree)]
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
