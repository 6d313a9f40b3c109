import { openRegistry, type Registry } from '../../registry/registry.ts'
import { type FolderOptions, flagsOf, type Io, run } from './io.ts'
import { progressLine } from './progress.ts'

type Work = (registry: Registry) => Promise<void>

/**
 * Runs `work` with the registry folder open, and closes it in any case. `forMove`: also if its
 * records were moved.
 */
export function withRegistry(
  io: Io,
  options: FolderOptions,
  work: Work,
  forMove = false,
): Promise<void> {
  return withFolder(io, options, work, false, forMove)
}

/** Like `withRegistry`, for work that only reads: refuses records of an older version. */
export function readRegistry(io: Io, options: FolderOptions, work: Work): Promise<void> {
  return withFolder(io, options, work, true)
}

async function withFolder(
  io: Io,
  options: FolderOptions,
  work: Work,
  reads: boolean,
  forMove = false,
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
