import { type Registry, timestamp } from '../generator/index.ts'
import type { OpenHandler } from './access/route.ts'

/** What readiness depends on. */
export interface ReadinessDeps {
  readonly registry: Registry
  readonly clock: () => Date
}

/**
 * So long an answer holds, in milliseconds: whoever asks more often learns nothing new, and makes
 * no work.
 */
const HOLDS = 1000

/**
 * `GET /readyz`: 200 when a publish could be taken now, because catalog, crate store and public
 * tree can be written to; else 503 and which cannot. Writing is tried: rights say little of a disk
 * that is full or mounted to be read. From the signal to stop on nobody is connected any longer, so
 * there is nothing to answer.
 */
export function readiness({ registry, clock }: ReadinessDeps): OpenHandler {
  let latest: { readonly at: number; readonly faults: Promise<string[]> } | null = null
  return async () => {
    const at = clock().getTime()
    if (latest === null || Math.abs(at - latest.at) >= HOLDS)
      latest = { at, faults: findFaults(registry, clock()) }
    const faults = await latest.faults
    return faults.length === 0 ? plain('ready\n', 200) : notReady(faults.join(', '))
  }
}

/**
 * What a daemon answers that is still starting: it lives, but is not ready. Null for all other
 * requests: they wait.
 */
export function whileStarting(path: string): Response | null {
  if (path === '/healthz') return plain('ok\n', 200)
  return path === '/readyz' ? notReady('starting') : null
}

async function findFaults(registry: Registry, now: Date): Promise<string[]> {
  const faults: string[] = []
  await check(faults, 'catalog', () => registry.catalog.setFact('probe', timestamp(now)))
  await check(faults, 'crate store', () => registry.crates.probe())
  await check(faults, 'public tree', () => registry.tree.probe())
  return faults
}

/** Names the part that fails; the reason, which may hold paths, is for the operator's eyes only. */
async function check(faults: string[], part: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch {
    faults.push(part)
  }
}

function notReady(why: string): Response {
  return plain(`not ready: ${why}\n`, 503)
}

function plain(text: string, status: number): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return new Response(text, { status, headers })
}
