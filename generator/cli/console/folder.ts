import { openRegistry, type Registry } from '../../registry/registry.ts'
import { type FolderOptions, flagsOf, type Io, run } from './io.ts'
import { progressLine } from './progress.ts'

type Work = (registry: Registry) => Promise<void>

/**
 * Runs `work` with the registry folder open, and closes it in any case. `forMove`: also if its
 * records were moved. `reads`: see `readRegistry`.
 */
export async function withRegistry(
  io: Io,
  options: FolderOptions,
  work: Work,
  forMove = false,
  reads = false,
): Promise<void> {
  await run(io, async () => {
    const progress = progressLine(io)
    const [flags, onUpgrade] = [flagsOf(options), io.err]
    const sources = { env: io.env, flags, program: io.program, reads, onUpgrade }
    const registry = await openRegistry(options.dir, sources, undefined, progress.at, forMove)
    progress.done()
    try {
      await work(registry)
    } finally {
      await registry.close()
    }
  })
}

/** Like `withRegistry`, for work that only reads: refuses records of an older version. */
export function readRegistry(io: Io, options: FolderOptions, work: Work): Promise<void> {
  return withRegistry(io, options, work, false, true)
}
