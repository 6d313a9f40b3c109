import type { SiteConfig } from '../../site/site-config.ts'
import type { BuildContext } from '../build/crate.ts'
import type { ProcessMutex } from '../store/process-mutex.ts'
import type { PublicTree } from '../store/public-tree.ts'

/**
 * Raise it when an equal catalog renders to other pages: an upgraded registry renders them again.
 */
export const PAGE_FORMAT = '7'

/**
 * What rendering pages needs beyond a build. Pages have another mutex: no publish waits for one.
 */
export interface PageContext extends BuildContext {
  readonly pageMutex: ProcessMutex
  readonly site: SiteConfig
}

/** A turn at the pages; what it changes in the tree that it is given is on disk when it ends. */
export function pageTurn<T>(
  context: PageContext,
  work: (tree: PublicTree) => Promise<T>,
): Promise<T> {
  return context.pageMutex.run(() => context.tree.batch(work))
}
