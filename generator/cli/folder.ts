import { openRegistry, type Registry } from '../registry.ts'
import { type Io, run } from './io.ts'

/** Flag values by setting key. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>

/** Runs `work` with the registry of `dir` open, and closes it whatever happens. */
export async function withRegistry(
  io: Io,
  dir: string,
  work: (registry: Registry) => Promise<void>,
  flags: Flags = {},
): Promise<void> {
  await run(io, async () => {
    const registry = await openRegistry(dir, { env: io.env, flags })
    try {
      await work(registry)
    } finally {
      await registry.close()
    }
  })
}
