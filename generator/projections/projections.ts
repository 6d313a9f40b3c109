// generator/projections: From records to files, a folder for each kind. pages/ runs them; none ever
// imports another.
import type { Follower } from '../records/crate-change.ts'
import { advisories } from './advisories/projection.ts'
import { cratePages, versionPages } from './crates/projection.ts'
import { dependents } from './dependents/projection.ts'
import { downloads } from './downloads/projection.ts'
import { crateFiles, gitIndex, index, wholeCrates } from './index/projection.ts'
import { labels, letters, users, views } from './lists/projection.ts'
import type { Pages } from './pages.ts'
import { search } from './search/projection.ts'
import { feedsAndSiteMap, registrySite } from './site/projection.ts'

/** Everything that is derived from the records besides the index, in the order of rendering. */
export const projections: readonly Pages[] = [
  search,
  dependents,
  downloads,
  cratePages,
  versionPages,
  letters,
  registrySite,
  feedsAndSiteMap,
  advisories,
  labels,
  users,
  views,
]

/** Everything that follows changes of the records; first what publishers wait for. */
export const followers: readonly Follower[] = [
  crateFiles,
  wholeCrates,
  index,
  gitIndex,
  ...projections,
]

/** The kinds of marks of pages, which no publisher waits for, in the order of rendering. */
export const PAGE_KINDS: readonly string[] = projections.map(({ kind }) => kind)

/** The kinds of pages that are rendered when nobody waits for others. */
export const IDLE_KINDS: readonly string[] = projections
  .filter(({ due }) => due === 'idle')
  .map(({ kind }) => kind)

/** The kinds of all marks. */
export const MARK_KINDS: readonly string[] = followers.map(({ kind }) => kind)

/** Returns what marks of a kind stand for, in the words of a status. */
export function workOf(kind: string): string {
  return followers.find(follower => follower.kind === kind)?.work ?? kind
}
