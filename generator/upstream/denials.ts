import { isAbout } from '../../core/advisory/advisory.ts'
import { canonicalName } from '../../core/name.ts'
import { deniedBy } from '../../core/upstream/policy.ts'
import type { AdvisoryChange } from '../records/advisories/change.ts'
import { advisoriesIn } from '../records/advisories/read.ts'
import { originOf } from './decisions.ts'
import { keptNames } from './tree.ts'
import type { Upstream } from './upstream.ts'

/** Returns what of an upstream's `.crate` files here changed advisories would newly deny, as texts. */
export async function newlyDenied(
  upstream: Upstream,
  changes: readonly AdvisoryChange[],
): Promise<string[]> {
  if (['off', 'warn'].includes(upstream.settings.deny_advisories)) return []
  const now = changes.flatMap(({ content }) => advisoriesIn(content))
  const names = new Set(now.map(advisory => canonicalName(advisory.package)))
  const changed = new Set(changes.map(({ name }) => name))
  const { index, files } = upstream.source
  const denied: string[] = []
  for (const name of await keptNames(upstream.source)) {
    const crate = names.has(canonicalName(name)) ? await index.kept(name) : null
    if (!crate) continue
    const before = await upstream.policy(name)
    const { known, denies } = before.advisories
    const others = known.filter(({ id }) => !changed.has(id))
    const about = now.filter(advisory => isAbout(advisory, name, originOf(upstream.settings)))
    const after = { ...before, advisories: { denies, known: [...others, ...about] } }
    for (const line of crate.lines.values()) {
      const rule = deniedBy(line, after)
      const isNew = rule !== undefined && deniedBy(line, before) === undefined
      if (isNew && (await files.size(line)) !== null)
        denied.push(`${line.name}@${line.version} of ${upstream.name} (${rule})`)
    }
  }
  return denied
}
