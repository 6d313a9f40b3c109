import type { Command } from 'commander'
import { Refusal } from '../error.ts'
import { GitIndex } from '../git-index.ts'
import { isServed, openRegistry, type Registry } from '../registry.ts'
import { type Io, run } from './io.ts'

/** Flag values by setting key. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>

/** Gives a command its `--dir`. */
export function withDir(command: Command, io: Io): Command {
  return command.option('--dir <dir>', 'the registry folder', io.env.PLIMSOLL_DIR ?? './registry')
}

/** Commits what a command changed to the git index; a running daemon does that itself. */
export async function commitToGit(io: Io, registry: Registry): Promise<void> {
  if (isServed(registry.dir)) return
  const git = await GitIndex.follow(registry)
  try {
    await git?.commit()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // What waits stays marked: the next build or daemon commits it.
    io.err(`warning: the git index is behind: ${error.message}`)
  } finally {
    await git?.close()
  }
}

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
