import { type Advisory, covers } from '../advisory/advisory.ts'
import type { Version } from '../version.ts'

/** What `deny_advisories` may be; each denies what those before it deny. */
export const DENIED_KINDS = ['off', 'warn', 'vulnerable', 'unsound', 'unmaintained'] as const

/** The advisories on a crate of an upstream, and which of them deny what they cover. */
export interface AdvisoryRules {
  readonly denies: (typeof DENIED_KINDS)[number]
  readonly known: readonly Advisory[]
}

/** Returns the advisories that cover a version; and the first of them that denies it. */
export function advisoriesOfVersion({ denies, known }: AdvisoryRules, version: Version) {
  const about = known.filter(advisory => covers(advisory, version))
  const kinds: readonly string[] = DENIED_KINDS.slice(2, DENIED_KINDS.indexOf(denies) + 1)
  const denying = about.find(({ informational }) => kinds.includes(informational ?? 'vulnerable'))
  return { about, denying }
}
