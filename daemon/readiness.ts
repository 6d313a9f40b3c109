import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { within } from '../core/async/repeater.ts'
import type { Code } from '../core/error/catalog.ts'
import { Refusal } from '../core/error/error.ts'
import { timestamp } from '../core/timestamp.ts'
import { probeRoom } from '../generator/database/engine.ts'
import { damage } from '../generator/places/disk/damage.ts'
import { readValue, writeValue } from '../generator/records/values.ts'
import { DATABASE_FILE } from '../generator/registry/folder.ts'
import type { OpenHandler } from './access/route.ts'
import type { Deps } from './deps.ts'

interface ReadinessDeps extends Pick<Deps, 'registry' | 'metrics'> {
  readonly freeBytes?: (path: string) => Promise<number>
}

/** How many milliseconds an answer is reused, so that frequent probes cause no extra work. */
const HOLDS = 1000

/** How many milliseconds each check may take: a prober waits two seconds at most. */
const PATIENCE_MS = 1500

/** The key of the value that is written and read. */
const PROBE = 'probe'

/** Does a test; returns what is wrong if the part itself is not. */
type Probe = () => Promise<unknown>

/**
 * Handles `GET /readyz`. Answers 200 if readers and publishers could be served now: test writes to
 * database, crate store and public tree succeed in time, the disk has room for the largest
 * `.crate`, and no damage of the database is known; else 503. Also 200 in a pause and after a move:
 * readers are served.
 */
export function readiness(deps: ReadinessDeps): OpenHandler {
  const probes = Object.entries(probesOf(deps)).map(([part, probe]) => {
    const timed = async () => {
      const end = deps.metrics.probing(part)
      return probe().finally(end)
    }
    // Requests to a server end by their own settings.
    return inTime(part, timed, part === 'catalog' && deps.registry.isShared)
  })
  let latest: { readonly at: number; readonly faults: Promise<string[]> } | null = null
  const find = async () => {
    const results = await Promise.all(probes.map(probe => probe()))
    return [...new Set(results.filter(fault => typeof fault === 'string'))]
  }
  return async () => {
    const at = deps.registry.clock().getTime()
    if (latest === null || Math.abs(at - latest.at) >= HOLDS) latest = { at, faults: find() }
    const faults = await latest.faults
    return faults.length === 0 ? probeAnswer('ready\n', 200) : notReady(faults.join(', '))
  }
}

/** Returns the probe answers of a daemon that is starting; null for requests that have to wait. */
export function whileStarting(path: string): Response | null {
  if (path === '/healthz') return probeAnswer('ok\n', 200)
  return path === '/readyz' || path === '/startupz' ? notReady('starting') : null
}

/** Returns a probe for each part. Its name is all that is said of a fault: reasons contain paths. */
function probesOf({ registry, freeBytes }: ReadinessDeps): Record<string, Probe> {
  const free = freeBytes ?? (path => statfs(path).then(({ bavail, bsize }) => bavail * bsize))
  const { database, crates, tree, dir, settings } = registry
  return {
    // The records; alerts and dashboards know this name.
    catalog: async () => {
      if (damage.of(join(dir, DATABASE_FILE)) !== null) return 'database damaged'
      await writeValue(database, PROBE, timestamp(registry.clock()))
      await probeRoom(database)
      // Readers use another connection, which may not yet see what this one wrote.
      if ((await readValue(database, PROBE)) === null) throw new Error('the probe was not written')
      return null
    },
    'crate store': () => crates.probe(),
    'public tree': () => tree.probe(),
    disk: async () => {
      const room = await Promise.all([...new Set([dir, tree.root])].map(free))
      return Math.min(...room) < settings.limits.crate_bytes ? 'disk full' : null
    },
  }
}

/**
 * Returns the same probe with an end: a part that fails, or says nothing for too long, is at fault
 * itself; one that `mayBeSlow` is then as it was before. One that has not ended is not begun again.
 */
function inTime(part: string, probe: Probe, mayBeSlow: boolean): Probe {
  let last: unknown = part
  let running: Promise<unknown> | null = null
  const begin = () =>
    probe()
      .catch(error => faultOf(error, part))
      .then(fault => {
        running = null
        last = fault
        return fault
      })
  return async () => {
    running ??= begin()
    return within(running, PATIENCE_MS, mayBeSlow ? last : part)
  }
}

function faultOf(error: unknown, part: string): string {
  const has = (code: Code) => error instanceof Refusal && error.has(code)
  if (has('bucket_foreign')) return `${part} (no object storage)`
  return has('storage_full') || has('storage_server_full') ? 'disk full' : part
}

function notReady(why: string): Response {
  return probeAnswer(`not ready: ${why}\n`, 503)
}

/** Returns the answer of a probe. No cache keeps it: it would say the same of a dead daemon. */
export function probeAnswer(text: string, status: number): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return new Response(text, { status, headers })
}
