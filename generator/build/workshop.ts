import type { Catalog } from '../catalog/catalog.ts'
import type { CrateStore } from '../crate-store.ts'
import type { Turnstile } from '../lock.ts'
import type { PublicTree } from '../public-tree.ts'
import type { RegistryUrls } from '../urls.ts'

/** What a build reads, where it writes, and the turnstile through which every writer of the tree goes. */
export interface Workshop {
  readonly catalog: Catalog
  readonly crates: CrateStore
  readonly tree: PublicTree
  readonly turnstile: Turnstile
  readonly urls: RegistryUrls
  readonly authRequired: boolean
}
