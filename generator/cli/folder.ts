import { openRegistry, type Registry } from '../registry.ts'
import { type FolderOptions, flagsOf, type Io, run } from './io.ts'

/** Runs `work` with the registry folder open, and closes it in any case. */
export async function withRegistry(
  io: Io,
  options: FolderOptions,
  work: (registry: Registry) => Promise<void>,
): Promise<void> {
  await run(io, async () => {
    const registry = await openRegistry(options.dir, { env: io.env, flags: flagsOf(options) })
    try {
      await work(registry)
    } finally {
      await registry.close()
    }
  })
}
