import { cratePages, namesakes, versionPages } from './crates/projection.ts'
import { downloads } from './downloads/projection.ts'
import { labels, letters, users, views } from './lists/projection.ts'
import type { Projection } from './projection.ts'
import { searchCrates, searchFiles } from './search/projection.ts'
import { registrySite, siteMap } from './site/projection.ts'

/** Everything that is derived from the records besides the index, in the order of rendering. */
export const projections: readonly Projection[] = [
  searchCrates,
  namesakes,
  downloads,
  cratePages,
  versionPages,
  letters,
  searchFiles,
  registrySite,
  siteMap,
  labels,
  users,
  views,
]

const byKind = new Map(projections.map(projection => [projection.kind as string, projection]))

/** Returns the projection whose marks have a kind. */
export function projectionOf(kind: string): Projection | null {
  return byKind.get(kind) ?? null
}
