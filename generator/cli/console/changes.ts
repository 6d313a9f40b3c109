import { Refusal } from '../../../core/error/error.ts'
import { clearMirrored } from '../../deploy/complete-mirror.ts'
import { GitIndex } from '../../git/git-index.ts'
import { type Built, build } from '../../pages/build.ts'
import { buildPages } from '../../pages/pages.ts'
import { showing } from '../../places/disk/fault.ts'
import { registrySite } from '../../projections/site/projection.ts'
import { isServed, type Registry } from '../../registry/registry.ts'
import type { RegistryTask } from './command.ts'
import type { Io } from './io.ts'

/** Renders what is not up to date, or `all`, and the git index. The result reports failures. */
export function showChanges(task: RegistryTask, all = false): Promise<Built> {
  return showing(() => showPending(task, all))
}

/** Does what `showChanges` does where nothing was changed: a failure may say so. */
export async function showPending(
  { io, registry, progress }: RegistryTask,
  all = false,
): Promise<Built> {
  // A bucket that is not named here gets none of the changes.
  if (registry.tree.mirror === null) await clearMirrored(registry.database)
  const { crates, issues } = await build(registry, { all, progress })
  const pages = await buildPages(registry, { all, progress })
  progress('committing to the git index', 0, 0)
  await commitToGit(io, registry)
  if (pages.areLeft) io.err('daemons of a newer version serve this registry; they render the pages')
  return { crates: Math.max(crates, pages.crates), issues: [...issues, ...pages.issues] }
}

/** Shows what an import has added so far, and a front page that says that more follow. */
export function showSoFar(registry: Registry): Promise<void> {
  const markFront = () => registry.database.transaction(tx => registrySite.markAll(tx))
  return showing(async () => {
    await build(registry)
    await markFront()
    await buildPages({ ...registry, isFilling: true }, { kinds: ['page', 'site'] })
    await markFront()
  })
}

/** Commits the changes of a command to the git index, unless a running daemon does that. */
async function commitToGit(io: Io, registry: Registry): Promise<void> {
  if (await isServed(registry)) return
  const git = await GitIndex.openToUpdate(registry, {
    onPushFailure: failure => io.err(`warning: ${failure.message}`),
  })
  try {
    await git?.commit()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // Pending changes stay marked, so that the next build or daemon commits them.
    io.err(`warning: the git index is behind: ${error.message}`)
  } finally {
    await git?.close()
  }
}
