import { statfs } from 'node:fs/promises'
import { Refusal, timestamp, writeFact } from '../generator/index.ts'
import type { OpenHandler } from './access/route.ts'
import type { Deps } from './deps.ts'

/** What the readiness check depends on. */
interface ReadinessDeps extends Pick<Deps, 'registry' | 'clock'> {
  /** Returns the free bytes of the file system of a path; default: as `statfs` reports them. */
  readonly freeBytes?: (path: string) => Promise<number>
}

/** How many milliseconds an answer is reused, so that frequent probes cause no extra work. */
const HOLDS = 1000

/**
 * Handles `GET /readyz`. Answers 200 if readers and publishers could be served now: test writes to
 * database, crate store and public tree succeed, and the disk has room for the largest `.crate`;
 * else 503. Also 200 in a pause and after a move: readers are served.
 */
export function readiness(deps: ReadinessDeps): OpenHandler {
  let latest: { readonly at: number; readonly faults: Promise<string[]> } | null = null
  return async () => {
    const at = deps.clock().getTime()
    if (latest === null || Math.abs(at - latest.at) >= HOLDS)
      latest = { at, faults: findFaults(deps) }
    const faults = await latest.faults
    return faults.length === 0 ? plain('ready\n', 200) : notReady(faults.join(', '))
  }
}

/** Returns the probe answers of a daemon that is starting; null for requests that have to wait. */
export function whileStarting(path: string): Response | null {
  if (path === '/healthz') return plain('ok\n', 200)
  return path === '/readyz' || path === '/startupz' ? notReady('starting') : null
}

/** Returns the names of failing parts, without reasons: those may contain paths. */
async function findFaults({ registry, clock, freeBytes = free }: ReadinessDeps): Promise<string[]> {
  const { database, crates, tree, dir, settings } = registry
  const faults = new Set<string>()
  const parts = [
    ['catalog', () => writeFact(database, 'probe', timestamp(clock()))],
    ['crate store', () => crates.probe()],
    ['public tree', () => tree.probe()],
  ] as const
  for (const [part, probe] of parts) {
    try {
      await probe()
    } catch (error) {
      const isFull = error instanceof Refusal && error.has('storage_full')
      faults.add(isFull ? 'disk full' : part)
    }
  }
  const room = await Promise.all([...new Set([dir, tree.root])].map(freeBytes))
  if (Math.min(...room) < settings.limits.crate_bytes) faults.add('disk full')
  return [...faults]
}

async function free(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

function notReady(why: string): Response {
  return plain(`not ready: ${why}\n`, 503)
}

function plain(text: string, status: number): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return new Response(text, { status, headers })
}
