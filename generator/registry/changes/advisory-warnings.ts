import { covers, isAbout, isAtLeast, wordOf } from '../../../core/advisory/advisory.ts'
import { newestFit } from '../../../core/advisory/ranges.ts'
import type { Dependency } from '../../../core/entry/entry.ts'
import { type Issue, warning } from '../../../core/error/error.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import { matcher, parseRequirement } from '../../../core/requirement.ts'
import { ignoredItem } from '../../../core/settings/advisories.ts'
import { timestamp } from '../../../core/timestamp.ts'
import { pace } from '../../database/pace.ts'
import { advisedCrates } from '../../records/advisories/read.ts'
import type { Registry } from '../registry.ts'

/** The most warnings of a publish, and the most requirements on one crate that are looked at. */
const WARNED = 10

/** Returns the name of the crate that is depended on, by which it is found. */
export function nameOf({ package: real, name }: Dependency): CanonicalName {
  return canonicalName((real ?? name) as Name)
}

/**
 * Warns once of each advisory that is severe enough and covers what a dependency resolves to: the
 * best own version; elsewhere the newest that may exist. One statement, for all dependencies.
 */
export async function advisoryWarnings(
  { database, settings, urls, clock }: Pick<Registry, 'database' | 'settings' | 'urls' | 'clock'>,
  { entry }: Release,
): Promise<Issue[]> {
  const deps = entry.deps.filter(dep => dep.kind !== 'dev')
  if (deps.length === 0) return []
  const { warn_from: level, ignore } = settings.advisories
  const today = timestamp(clock()).slice(0, 10)
  const ignored = ignore
    .map(ignoredItem)
    .flatMap(item => (item && item.until >= today ? item.id : []))
  const advised = await advisedCrates(database, [...new Set(deps.map(nameOf))])
  const warnings = new Map<string, Issue>()
  const looked = new Map<CanonicalName, number>()
  for (const dep of deps) {
    if (warnings.size === WARNED) break
    await pace()
    const { package: real, name: alias, req, registry } = dep
    const { advisories = [], versions = [] } = advised.get(nameOf(dep)) ?? {}
    const name = real ?? alias
    const telling = advisories.filter(
      each =>
        isAtLeast(each, level) && isAbout(each, name, registry === null ? urls.own : [registry]),
    )
    const times = looked.get(nameOf(dep)) ?? 0
    if (telling.length === 0 || times === WARNED) continue
    looked.set(nameOf(dep), times + 1)
    const need = parseRequirement(req)
    const best = registry === null ? versions.find(matcher(need)) : undefined
    for (const advisory of telling) {
      const { id, title } = advisory
      if (ignored.includes(id) || warnings.has(id) || warnings.size === WARNED) continue
      const version = registry === null ? best : newestFit(need, advisory.ranges)
      if (!version || !covers(advisory, version)) continue
      const word = wordOf(advisory)
      warnings.set(id, warning('dependency_advisory', { id, title, word, name, req }))
    }
  }
  return [...warnings.values()]
}
