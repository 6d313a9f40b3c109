import type { Catalog } from '../store/catalog/catalog.ts'
import type { CrateStore } from '../store/crate-store.ts'
import type { Turnstile } from '../store/lock.ts'
import type { PublicTree } from '../store/public-tree.ts'
import type { RegistryUrls } from '../../core/urls.ts'

/** What a build reads, where it writes, and the turnstile through which every writer of the tree goes. */
export interface Workshop {
  readonly catalog: Catalog
  readonly crates: CrateStore
  readonly tree: PublicTree
  readonly turnstile: Turnstile
  readonly urls: RegistryUrls
  readonly authRequired: boolean
}
