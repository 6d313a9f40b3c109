import { statfs } from 'node:fs/promises'
import { Refusal, type Registry, timestamp, writeFact } from '../generator/index.ts'
import type { OpenHandler } from './access/route.ts'

/** What readiness depends on. */
export interface ReadinessDeps {
  readonly registry: Registry
  readonly clock: () => Date
  /** The bytes that a file system has free, by a path in it; default: what `statfs` says. */
  readonly freeBytes?: (path: string) => Promise<number>
}

/** An answer stays valid for this long, in milliseconds, so that frequent probes make no more work. */
const HOLDS = 1000

/**
 * `GET /readyz`: 200 when a publish could be accepted now: database, crate store and public tree can
 * be written to (which is tried) and the disk has room for the largest `.crate`. Else 503.
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

/** The answer of a daemon that is still starting; null for requests that wait. */
export function whileStarting(path: string): Response | null {
  if (path === '/healthz') return plain('ok\n', 200)
  return path === '/readyz' ? notReady('starting') : null
}

async function findFaults({ registry, clock, freeBytes = free }: ReadinessDeps): Promise<string[]> {
  const { database, crates, tree, dir, settings } = registry
  const faults = new Set<string>()
  await check(faults, 'catalog', () => writeFact(database, 'probe', timestamp(clock())))
  await check(faults, 'crate store', () => crates.probe())
  await check(faults, 'public tree', () => tree.probe())
  const room = await Promise.all([...new Set([dir, tree.root])].map(freeBytes))
  if (Math.min(...room) < settings.limits.crate_bytes) faults.add('disk full')
  return [...faults]
}

async function free(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/** Names the part that fails; the reason, which may hold paths, is for the operator's eyes only. */
async function check(
  faults: Set<string>,
  part: string,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isFull = error instanceof Refusal && error.has('storage_full')
    faults.add(isFull ? 'disk full' : part)
  }
}

function notReady(why: string): Response {
  return plain(`not ready: ${why}\n`, 503)
}

function plain(text: string, status: number): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return new Response(text, { status, headers })
}
