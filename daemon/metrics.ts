import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry as Prometheus,
} from 'prom-client'
import {
  countFailedMarks,
  countMarks,
  listFailedMarks,
  listPlainPages,
  MARK_KINDS,
  type Registry,
  registryCounts,
} from '../generator/index.ts'
import { objectionsOf } from './http/failure.ts'

/** Work that follows a publish. */
const BACKGROUND = ['build', 'git index', 'git push'] as const
export type BackgroundWork = (typeof BACKGROUND)[number]

/** The methods of the web (RFC 9110 §9.3, RFC 5789). */
const METHODS = new Set('GET HEAD PUT DELETE POST PATCH OPTIONS TRACE CONNECT'.split(' '))

/** What the daemon counts about itself, in Prometheus' text format at `/metrics`. */
export class Metrics {
  readonly #prometheus = new Prometheus()
  readonly #requests: Histogram
  readonly #failures: Counter
  readonly #publishes: Counter
  readonly #backgroundFailures: Counter

  constructor(registry: Registry) {
    const registers = [this.#prometheus]
    collectDefaultMetrics({ register: this.#prometheus })
    this.#requests = new Histogram({
      name: 'plimsoll_request_seconds',
      help: 'Time to answer a request, by method, route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
      registers,
    })
    const counter = (name: string, label: string, help: string) =>
      new Counter({ name, help, labelNames: [label], registers })
    this.#failures = counter(
      'plimsoll_failures_total',
      'code',
      'Refused requests, by the code of each objection; `unexpected` for an unforeseen failure',
    )
    this.#publishes = counter(
      'plimsoll_publishes_total',
      'outcome',
      'Accepted publishes, by outcome: `added`, or `present` for a repeated one',
    )
    this.#backgroundFailures = counter(
      'plimsoll_background_failures_total',
      'what',
      'Failures of work after a publish, which is tried again: `build` for index files and pages, `git index`, `git push`',
    )
    for (const outcome of ['added', 'present']) this.#publishes.inc({ outcome }, 0)
    for (const what of BACKGROUND) this.#backgroundFailures.inc({ what }, 0)
    gauges(registry, registers)
  }

  /**
   * Times requests and counts their objections. Labels are the route, not the path, and standard
   * methods only, because HTTP/2 allows any word as a method.
   */
  readonly middleware: MiddlewareHandler = async (c, next) => {
    const { method } = c.req
    const end = this.#requests.startTimer({ method: METHODS.has(method) ? method : 'other' })
    await next()
    end({ route: routePath(c), status: c.res.status })
    for (const code of objectionsOf(c)) this.#failures.inc({ code })
  }

  /** Counts a failure of background work. */
  backgroundFailed(what: BackgroundWork): void {
    this.#backgroundFailures.inc({ what })
  }

  /** Counts a publish. */
  published(outcome: 'added' | 'present'): void {
    this.#publishes.inc({ outcome })
  }

  /** The page for Prometheus. */
  async page(): Promise<Response> {
    return new Response(await this.#prometheus.metrics(), {
      headers: { 'content-type': this.#prometheus.contentType, 'cache-control': 'no-store' },
    })
  }
}

/** What is read from the catalog whenever somebody asks. */
function gauges({ database }: Registry, registers: Prometheus[]): void {
  const byKind = (name: string, help: string, count: typeof countMarks) =>
    new Gauge({
      name,
      help,
      labelNames: ['kind'],
      registers,
      async collect() {
        for (const kind of MARK_KINDS) this.set({ kind }, 0)
        for (const { kind, n } of await count(database)) this.set({ kind }, n)
      },
    })
  byKind(
    'plimsoll_pending',
    'Work that the catalog has marked and nobody has done yet, by kind',
    countMarks,
  )
  byKind(
    'plimsoll_failed_work',
    'Work that failed and will be tried again, by kind; `plimsoll status` lists it',
    countFailedMarks,
  )
  new Gauge({
    name: 'plimsoll_unrendered',
    help: 'What cannot be rendered, or only as plain text: at most 100 of each, by kind, crate and version',
    labelNames: ['kind', 'crate', 'version'],
    registers,
    async collect() {
      this.reset()
      for (const { kind, crate, version } of await listFailedMarks(database))
        this.set({ kind, crate: crate ?? '', version: version ?? '' }, 1)
      for (const { what, name, version } of await listPlainPages(database, 100))
        this.set({ kind: what, crate: name, version }, 1)
    },
  })
  const held = new Gauge({
    name: 'plimsoll_held',
    help: 'What the registry has: crates, releases (their versions) and users',
    labelNames: ['what'],
    registers,
    async collect() {
      const { crates, releases, users } = await registryCounts(database)
      for (const [what, n] of Object.entries({ crates, releases, users })) held.set({ what }, n)
    },
  })
}
