import type { Registry } from '../../generator/index.ts'
import type { GitLane } from '../git-lane.ts'
import type { Regenerator } from '../regenerate.ts'

/** What the pages below `/me` need. */
export interface MeDeps {
  readonly registry: Registry
  readonly regenerator: Regenerator
  readonly git: GitLane | null
}
