import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as Prometheus } from 'prom-client'
import type { Code, Registry } from '../generator/index.ts'

/** Work that nobody waits for. */
export type Background = 'build' | 'git index'

/** What the daemon counts about itself, in Prometheus' text format at `/metrics`. */
export class Metrics {
  readonly #prometheus = new Prometheus()
  readonly #requests: Histogram
  readonly #failures: Counter
  readonly #publishes: Counter
  readonly #behind: Counter

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
    this.#failures = new Counter({
      name: 'plimsoll_failures_total',
      help: 'Refused requests, by the code of each objection; `unexpected` for what nobody foresaw',
      labelNames: ['code'],
      registers,
    })
    this.#publishes = new Counter({
      name: 'plimsoll_publishes_total',
      help: 'Publishes taken in, by outcome: `added`, or `present` for a repeated one',
      labelNames: ['outcome'],
      registers,
    })
    this.#behind = new Counter({
      name: 'plimsoll_background_failures_total',
      help: 'Work behind the answers that failed and is tried again, by what it was; `plimsoll status` has the last reasons',
      labelNames: ['what'],
      registers,
    })
    for (const what of ['build', 'git index'] satisfies Background[]) this.#behind.inc({ what }, 0)
    new Gauge({
      name: 'plimsoll_pending',
      help: 'Changes of the catalog that are not rendered yet',
      registers,
      async collect() {
        this.set(await registry.catalog.pending())
      },
    })
  }

  /** Times every request. The route and not the path is the label, so that the number of series stays small. */
  readonly middleware: MiddlewareHandler = async (c, next) => {
    const end = this.#requests.startTimer({ method: c.req.method })
    await next()
    end({ route: routePath(c, -1), status: c.res.status })
  }

  /** Counts objections that a request met. */
  failed(codes: readonly Code[]): void {
    for (const code of codes) this.#failures.inc({ code })
  }

  /** Counts a publish. */
  published(outcome: 'added' | 'present'): void {
    this.#publishes.inc({ outcome })
  }

  /** Counts a failure of background work. */
  failedBehind(what: Background): void {
    this.#behind.inc({ what })
  }

  /** The page for Prometheus. */
  async page(): Promise<Response> {
    return new Response(await this.#prometheus.metrics(), {
      headers: { 'content-type': this.#prometheus.contentType, 'cache-control': 'no-store' },
    })
  }
}
