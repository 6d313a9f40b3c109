import { counted, formatBytes, formatNumber } from '../../core/quantity.ts'
import { timestamp } from '../../core/timestamp.ts'
import { describeDaemon } from '../../generator/database/daemons.ts'
import { workOf } from '../../generator/projections/projections.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { readStatus, type Status, warningsOf } from '../../generator/status.ts'
import { listDeliveries, listWebhooks } from '../../generator/webhooks/deliveries.ts'
import { type StatusData, type StatusRow, statusPage } from '../../site/account/status-page.ts'
import { page } from '../http/page.ts'
import { type Task, viewerOf } from './notice.ts'

const COUNTED = 10_000
const DELIVERIES = 100

/** What the data of an event names. */
interface Told {
  readonly crate: string
  readonly version?: string
}

/** `GET /me/admin/status`: the report of `plimsoll status`. Its cost is bounded in any registry. */
export async function status({ registry, c, request }: Task) {
  const status = await readStatus(registry, registry.clock(), COUNTED + 1)
  const lists = [...listsOf(status), await deliveries(registry)]
  const data = { at: status.at, terms: termsOf(status), pending: pendingOf(status), lists }
  return page(c, registry.site, statusPage(registry.site, { viewer: viewerOf(request), ...data }))
}

function termsOf(status: Status): StatusData['terms'] {
  const daemon = status.daemons.map(describeDaemon).join('; ') || status.daemon
  const started = timestamp(new Date(status.at), -process.uptime())
  const git = status.git_index
  return [
    ['Crates', formatNumber(status.crates)],
    ['Versions', formatNumber(status.releases)],
    ['Users', formatNumber(status.users)],
    ['Index', `\`${status.index}\``],
    ['Git index', git === null ? `none: ${status.git_index_missing}` : `written with ${git}`],
    ...warningsOf(status).map(warning => ['Warning', warning] as const),
    ...(daemon === null ? [] : [['Daemon', daemon] as const]),
    ['Running since', `${started.replace('T', ' ').replace('Z', '')} UTC`],
    ['Memory', formatBytes(process.memoryUsage.rss())],
    ['Database', formatBytes(status.database_bytes)],
    ...status.disks.map(
      ({ what, free, size }) =>
        [what, `${formatBytes(free)} of ${formatBytes(size)} free`] as const,
    ),
    ...Object.entries(status.programs),
    ['Commit', status.commit],
  ]
}

function pendingOf(status: Status): StatusData['pending'] {
  return status.pending_work.map(({ kind, n }) => {
    const count = formatNumber(Math.min(n, COUNTED))
    return [workOf(kind), n > COUNTED ? `more than ${count}` : count]
  })
}

function listsOf(status: Status): StatusData['lists'] {
  const errors = status.last_errors.map(({ what, mended, ...failure }) => {
    return { ...failure, what: `${what}, ${mended ? `mended at ${mended}` : 'not mended'}` }
  })
  const failed = status.failed_work.map(({ kind, attempts, error, ...work }) => {
    return { ...work, what: `${kind}, ${counted(attempts, 'attempt')}`, why: error }
  })
  const plain = status.plain_pages.map(({ what, name, version, because, at }) => {
    return { what, crate: name, version, why: `because ${because}`, at }
  })
  return [
    [
      'Last errors',
      errors.sort((a, b) => (a.at < b.at ? 1 : -1)),
      'No background work has failed.',
    ],
    ['Retrying', failed, 'None.'],
    ['Shown as plain text', plain, 'None.'],
  ]
}

async function deliveries({ database }: Registry): Promise<StatusData['lists'][number]> {
  const ended = (await listWebhooks(database)).filter(({ ended_at: at }) => at !== null)
  const gone = ended.map(({ name, ended_at: at }) => {
    const why = `its receiver is gone (410); \`plimsoll webhook resend ${name}\` begins again`
    return { what: name, why, at }
  })
  const sent = (await listDeliveries(database, DELIVERIES)).map((delivery): StatusRow => {
    const { webhook, type, at, attempts, result, due_at: due } = delivery
    const why = result === null ? 'not sent yet' : `${counted(attempts, 'attempt')}: ${result}`
    const retryAt = due === null ? null : timestamp(new Date(due))
    const { crate, version = null } = JSON.parse(delivery.data) as Told
    return { what: `${webhook}: ${type}`, crate, version, why, at, retryAt }
  })
  return ['Webhooks', [...gone, ...sent], 'Nothing was sent.']
}
