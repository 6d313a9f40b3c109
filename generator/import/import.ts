import type { Registry } from '../registry.ts'
import { ImportBatch, type ImportJob } from './batch.ts'
import { ordered } from './ordered.ts'
import { type Outcome, prepare, type Ready, type Task, tasksOf } from './prepare.ts'
import type { Source } from './source/source.ts'

/** `.crate` files that are fetched and inspected at once. */
const AT_ONCE = 6

/** Called after each crate of the source. */
type Progress = (done: number, total: number) => void

/**
 * Imports what `source` has and reports what became of each version. What is already here costs one
 * query, so a killed import is simply repeated. The public tree follows with a build.
 */
export async function* importAll(
  registry: Registry,
  source: Source,
  orders: ImportJob,
  progress?: Progress,
): AsyncGenerator<Outcome> {
  const own = new Set([...registry.urls.own, ...source.ownUrls])
  const batch = new ImportBatch(registry, orders)
  const prepared = ordered(
    tasks(registry, source, progress),
    AT_ONCE,
    task => prepare(registry, task, own),
    discard,
  )
  try {
    for await (const results of prepared) {
      for (const result of results) {
        if ('outcome' in result) yield result
        else batch.put(result)
      }
      if (batch.isFull) yield* await batch.unload()
    }
    yield* await batch.unload()
  } finally {
    await batch.discard()
  }
}

async function* tasks(
  registry: Registry,
  source: Source,
  progress?: Progress,
): AsyncGenerator<Task> {
  let done = 0
  for await (const lot of source.crates()) {
    yield* tasksOf(registry, lot)
    done++
    progress?.(done, source.total)
  }
}

async function discard(results: readonly (Ready | Outcome)[]): Promise<void> {
  for (const result of results) if (!('outcome' in result)) await result.bytes.discard()
}
