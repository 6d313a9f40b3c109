import { join } from 'node:path'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry as Prometheus,
} from 'prom-client'
import { codesOf } from '../../core/error/catalog.ts'
import { Refusal, refusalOnly } from '../../core/error/error.ts'
import { readEngine } from '../../generator/database/engine.ts'
import { damage } from '../../generator/places/disk/damage.ts'
import { MARK_KINDS } from '../../generator/projections/projections.ts'
import { registryCounts } from '../../generator/records/crates.ts'
import { countFailedMarks, countMarks, listFailedMarks } from '../../generator/records/marks.ts'
import { listPlainPages } from '../../generator/records/pages/plain-pages.ts'
import { LAST_BACKUP, readTime } from '../../generator/records/values.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { COMMIT, VERSION } from '../../generator/version.ts'
import { issuesOf } from './log.ts'

const BACKGROUND = [
  'build',
  'git index',
  'git push',
  'downloads',
  'upload',
  'cdn purge',
  'takeover',
  'webhook',
] as const
export type BackgroundWork = (typeof BACKGROUND)[number]

/**
 * The codes of failures that alerts are about. They are there before the first failure: `increase`
 * of Prometheus does not count the one with which a series begins.
 */
const ALERTED = codesOf('busy', 'full', 'failed')

const METHODS = new Set('GET HEAD PUT DELETE POST PATCH OPTIONS TRACE CONNECT'.split(' '))

/** The daemon's metrics, served at `/metrics` in Prometheus' text format. */
export class Metrics {
  readonly prometheus = new Prometheus()
  readonly #requests = this.#histogram(
    'plimsoll_request_seconds',
    ['method', 'route', 'status'],
    'Time to answer a request, by method, route and status',
    30,
  )
  /** Histograms of file answers by method and status: looking up labels each time is too slow. */
  readonly #fileTimes = new Map<string, ReturnType<Histogram['labels']>>()
  readonly #failures = this.#counter(
    'plimsoll_failures_total',
    ['code'],
    'Refused requests, by the code of each issue; `unexpected` for an unexpected error',
  )
  readonly #publishes = this.#counter(
    'plimsoll_publishes_total',
    ['outcome'],
    'Accepted publishes, by outcome: `added`, or `present` for a repeated publish',
  )
  readonly #backgroundFailures = this.#counter(
    'plimsoll_background_failures_total',
    ['what'],
    `Failures of background work, which is retried: \`${BACKGROUND.join('`, `')}\`; \`build\` is for index files and pages, \`upload\` to a bucket`,
  )
  readonly #downloads = this.#counter(
    'plimsoll_downloads_total',
    [],
    'Downloads of `.crate` files; they are written and counted here once a minute',
  )
  readonly #probes = this.#histogram(
    'plimsoll_probe_seconds',
    ['part'],
    'Time of the test writes of `/readyz`, by part; a bucket is asked for an object',
  )

  constructor(registry: Registry, tlsExpiry: () => Date | null = () => null) {
    // The default, 10 ms, wakes an idle process a hundred times a second.
    collectDefaultMetrics({ register: this.prometheus, eventLoopMonitoringPrecision: 50 })
    const registers = [this.prometheus]
    const help = 'Always 1; the version of Plimsoll and the commit that it was built from'
    const labelNames = ['version', 'commit']
    const build = new Gauge({ name: 'plimsoll_build_info', help, labelNames, registers })
    build.set({ version: VERSION, commit: COMMIT }, 1)
    for (const outcome of ['added', 'present']) this.#publishes.inc({ outcome }, 0)
    for (const code of ALERTED) this.#failures.inc({ code }, 0)
    for (const what of BACKGROUND) this.#backgroundFailures.inc({ what }, 0)
    new Gauge({
      ...{ name: 'plimsoll_database_damaged', registers },
      help: 'Whether the database is known to be damaged: 1, else 0',
      collect() {
        this.set(damage.of(join(registry.dir, DATABASE_FILE)) === null ? 0 : 1)
      },
    })
    gauges(registry, registers, tlsExpiry)
  }

  #counter(name: string, labelNames: string[], help: string): Counter {
    return new Counter({ name, help, labelNames, registers: [this.prometheus] })
  }

  #histogram(name: string, labelNames: string[], help: string, ...more: number[]): Histogram {
    const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, ...more]
    return new Histogram({ name, help, labelNames, buckets, registers: [this.prometheus] })
  }

  /** Labels are limited to routes and standard methods: clients can send any path and method. */
  readonly middleware: MiddlewareHandler = async (c, next) => {
    const { method } = c.req
    const end = this.#requests.startTimer({ method: METHODS.has(method) ? method : 'other' })
    await next()
    end({ route: routePath(c), status: c.res.status })
    for (const { code } of issuesOf(c)) this.#failures.inc({ code })
  }

  readonly countFile = (method: string, status: number, seconds: number): void => {
    const key = `${method} ${status}`
    let times = this.#fileTimes.get(key)
    if (!times) {
      times = this.#requests.labels({ method, route: '/*', status })
      this.#fileTimes.set(key, times)
    }
    times.observe(seconds)
  }

  /** Measures a test of a part of the registry; call what it returns at its end. */
  probing(part: string): () => void {
    return this.#probes.startTimer({ part })
  }

  backgroundFailed(what: BackgroundWork): void {
    this.#backgroundFailures.inc({ what })
  }

  published(outcome: 'added' | 'present'): void {
    this.#publishes.inc({ outcome })
  }

  readonly downloaded = (n: number): void => this.#downloads.inc(n)

  async page(): Promise<Response> {
    return new Response(await this.prometheus.metrics(), {
      headers: { 'content-type': this.prometheus.contentType, 'cache-control': 'no-store' },
    })
  }
}

function gauges(
  { database, dir, followers, clock }: Registry,
  registers: Prometheus[],
  tlsExpiry: () => Date | null,
): void {
  type Samples = (readonly [labels: Record<string, string>, n: number])[]
  const gauge = (name: string, labelNames: string[], help: string, read: () => Promise<Samples>) =>
    new Gauge({
      ...{ name, help, labelNames, registers },
      async collect() {
        const samples = await read().catch(refusalOnly)
        this.reset()
        // If the records are away, the daemon still has the other metrics.
        if (samples instanceof Refusal) return
        for (const [labels, n] of samples) this.set(labels, n)
      },
    })
  const byKind = (count: typeof countMarks) => async () => {
    const counts = new Map((await count(database, MARK_KINDS)).map(({ kind, n }) => [kind, n]))
    return MARK_KINDS.map(kind => [{ kind }, counts.get(kind) ?? 0] as const)
  }
  gauge(
    'plimsoll_pending',
    ['kind'],
    'Work that is marked in the records and not done yet, by kind',
    byKind(countMarks),
  )
  gauge(
    'plimsoll_failed_work',
    ['kind'],
    'Work that failed and will be retried, by kind; `plimsoll status` lists it',
    byKind(countFailedMarks),
  )
  gauge(
    'plimsoll_unrendered',
    ['kind', 'crate', 'version'],
    'Pages and index files that cannot be rendered, or only as plain text (at most 100 of each)',
    async () => [
      ...(await listFailedMarks(database, followers)).map(({ kind, crate, version }) => {
        return [{ kind, crate: crate ?? '', version: version ?? '' }, 1] as const
      }),
      ...(await listPlainPages(database, 100)).map(({ what, name, version }) => {
        return [{ kind: what, crate: name, version }, 1] as const
      }),
    ],
  )
  const databaseBytes = async () => (await readEngine(database, join(dir, DATABASE_FILE))).bytes
  gauge('plimsoll_database_bytes', [], 'The size of the database', async () => [
    [{}, await databaseBytes()],
  ])
  gauge(
    'plimsoll_last_backup_timestamp_seconds',
    [],
    'When the last `plimsoll backup` was complete; 0 if there was none',
    async () => [[{}, await readTime(database, LAST_BACKUP, clock())]],
  )
  gauge(
    'plimsoll_tls_expiry_timestamp_seconds',
    [],
    'When the certificate of `tls.cert` expires; 0 without one',
    async () => [[{}, (tlsExpiry()?.getTime() ?? 0) / 1000]],
  )
  gauge(
    'plimsoll_held',
    ['what'],
    'The numbers of crates, releases (crate versions) and users',
    async () => {
      const { crates, releases, users } = await registryCounts(database)
      return Object.entries({ crates, releases, users }).map(([what, n]) => [{ what }, n] as const)
    },
  )
}
