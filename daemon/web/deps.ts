import type { Registry } from '../../generator/index.ts'
import type { GitLane } from '../workers/git-worker.ts'
import type { Regenerator } from '../workers/index-worker.ts'

/** What the pages below `/me` need. */
export interface MeDeps {
  readonly registry: Registry
  readonly regenerator: Regenerator
  readonly git: GitLane | null
}
