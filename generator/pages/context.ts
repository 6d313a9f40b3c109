import type { SiteConfig } from '../../site/site-config.ts'
import type { BuildContext } from '../build/crate.ts'
import type { ProcessMutex } from '../store/process-mutex.ts'
import type { PublicTree } from '../store/public-tree.ts'

/** Raise it when an equal catalog renders to other pages: an upgrade then renders them again. */
export const PAGE_FORMAT = '7'

/** What rendering pages needs beyond a build. With their own mutex, no publish waits for them. */
export interface PageContext extends BuildContext {
  readonly pageMutex: ProcessMutex
  readonly site: SiteConfig
}

/** Runs `work` with the mutex of the pages; what it changes in its tree is on disk at the end. */
export function pageTurn<T>(
  context: PageContext,
  work: (tree: PublicTree) => Promise<T>,
): Promise<T> {
  return context.pageMutex.run(() => context.tree.batch(work))
}
