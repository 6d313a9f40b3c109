import type { Workshop } from '../build/workshop.ts'
import type { Database } from '../store/database/database.ts'
import type { Turnstile } from '../store/lock.ts'
import type { PublicTree } from '../store/public-tree.ts'
import type { Look } from '../render/look.ts'
import type { Unsettled } from '../store/unsettled.ts'

/** What rendering pages needs beyond a build. Pages have a turnstile of their own: no publish ever waits for one. */
export interface PageShop extends Workshop {
  readonly database: Database
  readonly pageTurnstile: Turnstile
  /** What the holder of that turn is changing. */
  readonly pagesUnsettled: Unsettled
  readonly look: Look
}

/** A turn at the pages; what it changes in the tree that it is given is on disk when it ends. */
export function pageTurn<T>(shop: PageShop, work: (tree: PublicTree) => Promise<T>): Promise<T> {
  return shop.pageTurnstile.run(() => shop.tree.together(shop.pagesUnsettled, work))
}
