import { Refusal } from '../../core/error/error.ts'
import { GitIndex } from '../git/git-index.ts'
import { isServed, type Registry } from '../registry.ts'
import type { Io } from './io.ts'

/** Commits what a command changed to the git index; a running daemon does that itself. */
export async function commitToGit(io: Io, registry: Registry): Promise<void> {
  if (isServed(registry.dir)) return
  const git = await GitIndex.follow(registry, {
    onPushFailure: failure => io.err(`warning: ${failure.message}`),
  })
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
