import { type Follower, hasVersions } from '../../store/catalog/crate-change.ts'
import { isFollowedForGit } from '../../store/catalog/git-batch.ts'
import { marksOf } from '../../store/catalog/marks.ts'

/** The git index: the index file of a crate has to be committed. */
export const gitIndex: Follower = {
  kind: 'git',
  work: 'git index entries',
  of: 'crate',
  changed: async (tx, change) =>
    marksOf('git', hasVersions(change) && (await isFollowedForGit(tx)) ? [change.crate.id] : []),
}
