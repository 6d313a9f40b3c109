import { type Follower, hasVersions } from '../../records/crate-change.ts'
import { isFollowedForGit } from '../../records/git-batch.ts'
import { marksOf } from '../../records/marks.ts'

/** The git index: the index file of a crate has to be committed. */
export const gitIndex: Follower = {
  kind: 'git',
  work: 'git index entries',
  of: 'crate',
  changed: async (tx, change) =>
    marksOf('git', hasVersions(change) && (await isFollowedForGit(tx)) ? [change.crate.id] : []),
}
