import { timestamp } from '../../../core/timestamp.ts'
import { operatorChange } from '../../records/change.ts'
import { openRegistry } from '../../registry/registry.ts'
import type { RegistryTask, Task } from './command.ts'
import { sourcesOf } from './io.ts'

/**
 * Works with the registry folder open, and closes it in any case. `forMove`: also if its records
 * were moved. `reads`: see `RegistrySources`.
 */
export async function withRegistry<Options>(
  task: Task<Options>,
  work: (task: RegistryTask<Options>) => Promise<void>,
  { reads = false, forMove = false } = {},
): Promise<void> {
  const { io, options, progress } = task
  const sources = { ...sourcesOf(io, options), reads }
  const registry = await openRegistry(options.dir, sources, undefined, progress, forMove)
  io.transient?.('')
  try {
    await work({ ...task, registry, change: operatorChange(timestamp(io.now())) })
  } finally {
    await registry.close()
  }
}
