import type { Registry } from '../../generator/index.ts'
import type { GitWorker } from '../workers/git-worker.ts'
import type { IndexWorker } from '../workers/index-worker.ts'

/** What the pages below `/me` need. */
export interface MeDeps {
  readonly registry: Registry
  readonly indexWorker: IndexWorker
  readonly git: GitWorker | null
}
