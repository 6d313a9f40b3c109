import { type Issue, unique, warning } from '../../../core/error/error.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { deprecationOf } from '../../../core/notes/notes.ts'
import type { Release } from '../../../core/release/release.ts'
import { parseRequirement, satisfies } from '../../../core/requirement.ts'
import { highestVersion } from '../../../core/version.ts'
import type { Queries } from '../../database/statement.ts'
import { notedCards } from '../../records/pages/cards.ts'
import { listVersions } from '../../records/releases.ts'
import { listDeprecations } from './deprecation.ts'

/** The most warnings of a kind. */
const WARNED = 10

/** Warns of own dependencies that fit yanked versions only, or whose best version is deprecated. */
export async function dependencyWarnings(db: Queries, { entry }: Release): Promise<Issue[]> {
  const deps = entry.deps.filter(dep => dep.registry === null && dep.kind !== 'dev')
  if (deps.length === 0) return []
  const nameOf = ({ package: real, name }: (typeof deps)[number]) =>
    canonicalName((real ?? name) as Name)
  const noted = await notedCards(db, [...new Set(deps.map(nameOf))])
  const [yanked, deprecated]: [Issue[], Issue[]] = [[], []]
  for (const card of noted) {
    const versions = await listVersions(db, card.id)
    const all = await listDeprecations(db, card.id)
    for (const dep of deps.filter(each => nameOf(each) === canonicalName(card.name))) {
      const need = parseRequirement(dep.req)
      const best = highestVersion(versions.filter(({ version }) => satisfies(need, version)))
      if (!best) continue
      const { name } = card
      if (best.yanked)
        yanked.push(
          warning('dependency_yanked', { name, req: dep.req, reason: best.yankReason ?? null }),
        )
      const said = deprecationOf(all, best.version, card.about)
      if (said)
        deprecated.push(
          warning('dependency_deprecated', { name, reason: said.reason, use: said.use }),
        )
    }
  }
  return [yanked, deprecated].flatMap(issues => unique(issues).slice(0, WARNED))
}
