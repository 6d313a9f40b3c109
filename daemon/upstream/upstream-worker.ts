// daemon/upstream: Keeps upstreams fresh and reports on them. `serve` starts it; no answer to a
// client waits for it.
import { rm } from 'node:fs/promises'
import type { Logger } from 'pino'
import { Repeater } from '../../core/async/repeater.ts'
import { KNOWN_FOLDER, UPSTREAM_CRATES } from '../../core/paths/upstream.ts'
import { timestamp } from '../../core/timestamp.ts'
import { recordFailure, recordMended } from '../../generator/records/values.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { checkNames, unmatchedRules } from '../../generator/upstream/names.ts'
import type { Upstreams } from '../../generator/upstream/open.ts'
import { halfWrittenIn } from '../../generator/upstream/tree.ts'
import type { UpstreamSource } from '../../generator/upstream/upstream.ts'
import { logFailure } from '../http/log.ts'
import type { Worker } from '../workers/worker.ts'

/** Milliseconds between two rounds over the upstreams, and from a start to the first one. */
const INTERVAL_MS = 600_000
const FIRST_MS = 30_000

/** Counts what is kept of upstreams, finds own names among new crates, and logs failures. */
export class UpstreamWorker implements Worker {
  readonly #registry: Registry
  readonly #upstreams: Upstreams
  readonly #repeater = new Repeater(async () => {
    await this.look()
    return INTERVAL_MS
  })

  constructor(registry: Registry, upstreams: Upstreams, log: Logger) {
    this.#registry = registry
    this.#upstreams = upstreams
    for (const { name: upstream, counts } of upstreams.sources)
      counts.onTurn = reason => {
        if (reason === null) log.info({ upstream }, 'an upstream answers again')
        else log.warn({ upstream, reason }, 'requests to an upstream fail')
        record(registry, upstream, reason).catch(error =>
          logFailure(log, error, 'cannot record this failure'),
        )
      }
  }

  async start(): Promise<void> {
    if (this.#upstreams.sources.length > 0) this.#repeater.schedule(FIRST_MS)
  }

  /** Does its work once; what fails is in the metrics and on the page of the upstream. */
  async look(): Promise<void> {
    const { byName, sources } = this.#upstreams
    for (const source of sources)
      await countKept(source).catch(error => source.counts.failed(error))
    for (const { place } of sources)
      for await (const path of halfWrittenIn(place)) await rm(path, { force: true })
    // One of an earlier process may be recorded as failing.
    for (const { name, counts } of sources)
      if (counts.answered !== null && counts.failure === null)
        await record(this.#registry, name, null)
    for (const each of byName.values()) {
      const failed = (error: unknown) => each.source.counts.failed(error)
      await checkNames(this.#registry, each).catch(failed)
      await unmatchedRules(each).then(rules => {
        each.unmatched = rules
      }, failed)
    }
  }

  async close(): Promise<void> {
    await this.#repeater.close()
  }
}

/** Records for `plimsoll status` why an upstream does not answer; with null, that it does again. */
function record({ database, clock }: Registry, upstream: string, why: string | null) {
  const [what, at] = [`requests to the upstream ${upstream}`, timestamp(clock())]
  return why === null
    ? recordMended(database, what, at)
    : recordFailure(database, { what, at, why })
}

async function countKept({ place, counts }: UpstreamSource): Promise<void> {
  let bytes = 0
  for (const folder of [UPSTREAM_CRATES, `${KNOWN_FOLDER}/`])
    for await (const { size } of place.list(folder)) bytes += size
  counts.kept = bytes
}
