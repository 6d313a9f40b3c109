import type { Context } from 'hono'
import { timestamp } from '../../core/timestamp.ts'
import { describeDaemon } from '../../generator/database/daemons.ts'
import { workOf } from '../../generator/projections/projections.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { readStatus, warningsOf } from '../../generator/status.ts'
import { listDeliveries, listWebhooks } from '../../generator/webhooks/deliveries.ts'
import { type StatusData, type StatusProblem, statusPage } from '../../site/account/status-page.ts'
import type { SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { page } from '../http/page.ts'
import { viewerOf } from './notice.ts'

const COUNTED = 10_000
const DELIVERIES = 100

/** What the data of an event names. */
interface Told {
  readonly crate: string
  readonly version?: string
}

/** `GET /me/admin/status`: the report of `plimsoll status`. Its cost is bounded in any registry. */
export async function status({ registry }: Deps, c: Context, request: SessionRequest) {
  const data = { ...(await readData(registry)), viewer: viewerOf(request) }
  return page(c, registry.site, statusPage(registry.site, data))
}

async function readData(registry: Registry): Promise<Omit<StatusData, 'viewer'>> {
  const now = registry.clock()
  const status = await readStatus(registry, now, COUNTED + 1)
  const bounded = (what: string, n: number) => ({
    what,
    n: Math.min(n, COUNTED),
    isMore: n > COUNTED,
  })
  const errors = status.last_errors.sort((a, b) => (a.at < b.at ? 1 : -1))
  const none = { crate: null, version: null, retryAt: null }
  return {
    at: status.at,
    started: timestamp(now, -process.uptime()),
    crates: status.crates,
    versions: status.releases,
    users: status.users,
    index: status.index,
    disks: status.disks,
    databaseBytes: status.database_bytes,
    memoryBytes: process.memoryUsage.rss(),
    daemon: status.daemons.map(describeDaemon).join('; ') || status.daemon,
    programs: [...Object.entries(status.programs), ['Commit', status.commit]],
    gitIndex:
      status.git_index === null
        ? `none: ${status.git_index_missing}`
        : `written with ${status.git_index}`,
    warnings: warningsOf(status),
    pending: status.pending_work.map(({ kind, n }) => bounded(workOf(kind), n)),
    errors: errors.map(({ what, mended, ...failure }) => {
      return {
        ...none,
        ...failure,
        what: `${what}, ${mended ? `mended at ${mended}` : 'not mended'}`,
      }
    }),
    failed: status.failed_work.map(({ kind, crate, version, attempts, retryAt, error }) => {
      const what = `${kind}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
      return { what, crate, version, why: error, at: null, retryAt }
    }),
    plain: status.plain_pages.map(({ what, name, version, because, at }) => {
      return { what, crate: name, version, why: `because ${because}`, at, retryAt: null }
    }),
    deliveries: await lastDeliveries(registry),
  }
}

async function lastDeliveries({ database }: Registry): Promise<StatusProblem[]> {
  const ended = (await listWebhooks(database)).filter(({ ended_at: at }) => at !== null)
  const gone = ended.map(({ name, ended_at: at }) => {
    const why = `its receiver is gone (410); \`plimsoll webhook resend ${name}\` begins again`
    return { what: name, crate: null, version: null, why, at, retryAt: null }
  })
  const sent = (await listDeliveries(database, DELIVERIES)).map(delivery => {
    const { webhook, type, at, attempts, result, due_at: due } = delivery
    const { crate, version = null } = JSON.parse(delivery.data) as Told
    const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
    const why = result === null ? 'not sent yet' : `${tries}: ${result}`
    const retryAt = due === null ? null : timestamp(new Date(due))
    return { what: `${webhook}: ${type}`, crate, version, why, at, retryAt }
  })
  return [...gone, ...sent]
}
