import { compareText, renderEntry } from '../entry.ts'
import { type CanonicalName, canonicalName } from '../name.ts'
import type { Output } from '../paths.ts'
import { policyQuestions } from '../policy.ts'
import type { Release } from '../release.ts'
import { renderCrateRecord } from '../render.ts'
import { newestVersion } from '../version.ts'

/** A crate of a static tree: its releases in the order of their versions, with `yanked` as the settings have it. */
export type StaticCrate = readonly Pick<Release, 'name' | 'version' | 'entry' | 'about' | 'size'>[]

/**
 * The `crate.json` of every crate. There are no feeds: nothing in a `.crate` says when it was published, and a tree that
 * depends on the bytes it reads alone cannot know.
 */
export function* staticPages(crates: readonly StaticCrate[], dl: string): Iterable<Output> {
  const dependents = countDependents(crates)
  for (const releases of crates) {
    const name = releases[0]?.name
    if (!name) continue
    const facts = releases.map(release => ({
      version: release.version,
      cksum: release.entry.cksum,
      size: release.size,
      yanked: release.entry.yanked,
      line: renderEntry(release.entry),
      about: release.about,
      publishedAt: null,
      publishedBy: null,
    }))
    const count = dependents.get(canonicalName(name)) ?? 0
    yield renderCrateRecord({ name, createdAt: null, releases: facts, dependents: count }, dl)
  }
}

/** What the start page shows: without times, the first crates by name. */
export function startFacts(crates: readonly StaticCrate[]) {
  const newest = crates.flatMap(releases => {
    const best = newestVersion(releases.map(one => ({ ...one, yanked: one.entry.yanked })))
    return best ? [{ name: best.name, version: best.version, description: best.about.description }] : []
  })
  newest.sort((a, b) => compareText(a.name, b.name))
  const versions = crates.reduce((sum, releases) => sum + releases.length, 0)
  return { crates: crates.length, versions, shown: newest.slice(0, 30) }
}

/** How many crates depend on each with their newest version, as the catalog counts it. */
function countDependents(crates: readonly StaticCrate[]): Map<CanonicalName, number> {
  const counts = new Map<CanonicalName, number>()
  for (const releases of crates) {
    const newest = newestVersion(
      releases.map(release => ({ release, version: release.version, yanked: release.entry.yanked })),
    )
    if (!newest || newest.yanked) continue
    const names = new Set(policyQuestions(newest.release).ownDependencies.map(canonicalName))
    names.delete(canonicalName(newest.release.name))
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
