import type { RegistryUrls } from '../../core/urls.ts'
import type { CrateStore } from '../store/crate-store.ts'
import type { Database } from '../store/database/database.ts'
import type { ProcessMutex } from '../store/process-mutex.ts'
import type { PublicTree } from '../store/public-tree.ts'

/**
 * What a build reads, where it writes, and the mutex through which every writer of the tree goes.
 */
export interface BuildContext {
  readonly database: Database
  readonly crates: CrateStore
  readonly tree: PublicTree
  readonly mutex: ProcessMutex
  readonly urls: RegistryUrls
  readonly authRequired: boolean
  readonly clock: () => Date
}
