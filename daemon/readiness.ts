import { access, constants } from 'node:fs/promises'
import type { Registry } from '../generator/index.ts'
import type { OpenHandler } from './route.ts'

/** `GET /readyz`: 200 when the catalog answers and crate store and public tree can be written to; else 503 and why. */
export function readiness(registry: Registry): OpenHandler {
  return async c => {
    const faults: string[] = []
    await check(faults, 'catalog', () => registry.catalog.pending())
    await check(faults, 'crate store', () => access(registry.dir, constants.R_OK | constants.W_OK))
    await check(faults, 'public tree', () => access(registry.tree.root, constants.R_OK | constants.W_OK))
    const headers = { 'cache-control': 'no-store' }
    return faults.length === 0
      ? c.text('ready\n', 200, headers)
      : c.text(`not ready: ${faults.join(', ')}\n`, 503, headers)
  }
}

/** Names the part that fails; the reason, which may hold paths, is for the operator's eyes only. */
async function check(faults: string[], part: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch {
    faults.push(part)
  }
}
