import { openRegistry, type Registry } from '../registry.ts'
import { progressLine } from './console/progress.ts'
import { type FolderOptions, flagsOf, type Io, run } from './io.ts'

/**
 * Runs `work` with the registry folder open, and closes it in any case. `forMove`: also if its
 * records were moved.
 */
export async function withRegistry(
  io: Io,
  options: FolderOptions,
  work: (registry: Registry) => Promise<void>,
  forMove = false,
): Promise<void> {
  await run(io, async () => {
    const progress = progressLine(io)
    const sources = { env: io.env, flags: flagsOf(options), program: io.program }
    const registry = await openRegistry(options.dir, sources, undefined, progress.at, forMove)
    progress.done()
    try {
      await work(registry)
    } finally {
      await registry.close()
    }
  })
}
