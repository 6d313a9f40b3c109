import { covers, isAbout, isAtLeast, labelOf } from '../../../core/advisory/advisory.ts'
import { newestFit } from '../../../core/advisory/ranges.ts'
import type { Dependency } from '../../../core/entry/entry.ts'
import { type Issue, warning } from '../../../core/error/error.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import { parseRequirement, satisfies } from '../../../core/requirement.ts'
import { ignoredItem } from '../../../core/settings/advisories.ts'
import { timestamp } from '../../../core/timestamp.ts'
import { advisedCrates } from '../../records/advisories/read.ts'
import type { Registry } from '../registry.ts'

/** The most warnings of a publish. */
const WARNED = 10

function nameOf({ package: real, name }: Dependency): CanonicalName {
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
  const known = await advisedCrates(database, [...new Set(deps.map(nameOf))])
  const warnings = new Map<string, Issue>()
  for (const dep of deps) {
    const { package: real, name: alias, req, registry } = dep
    const { advisories = [], versions = [] } = known.get(nameOf(dep)) ?? {}
    const name = real ?? alias
    const telling = advisories.filter(
      each =>
        isAtLeast(each, level) && isAbout(each, name, registry === null ? urls.own : [registry]),
    )
    if (telling.length === 0) continue
    const need = parseRequirement(req)
    const best = versions.find(version => satisfies(need, version))
    for (const advisory of telling) {
      const { id, title, informational } = advisory
      if (ignored.includes(id) || warnings.has(id) || warnings.size === WARNED) continue
      const version = registry === null ? best : newestFit(need, advisory.ranges)
      if (!version || !covers(advisory, version)) continue
      const word = informational ?? labelOf(advisory) ?? 'no CVSS'
      warnings.set(id, warning('dependency_advisory', { id, title, word, name, req }))
    }
  }
  return [...warnings.values()]
}
