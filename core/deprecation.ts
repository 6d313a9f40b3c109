import type { About } from './manifest/manifest.ts'
import { parseRequirement, type Requirement, satisfies } from './requirement.ts'
import type { Version } from './version.ts'

/** That a crate, or some versions of it, should not be used any more. */
export interface Deprecation {
  /** The versions; `*` for all. */
  readonly requirement: string
  /** Null where only the badge of the manifest says so. */
  readonly reason: string | null
  /** What to use instead: a crate or an https address; null for nothing. */
  readonly use: string | null
}

/** Returns what is said of a version, in words or by the badge of its manifest; null for nothing. */
export function deprecationOf(
  all: readonly Deprecation[],
  version: Version,
  { badges }: Pick<About, 'badges'>,
): Deprecation | null {
  const said = all.find(({ requirement }) => covers(requirement, version))
  if (said) return said
  const isBadged = badges?.maintenance?.status === 'deprecated'
  return isBadged ? { requirement: '*', reason: null, use: null } : null
}

/** Returns whether a deprecation of these versions is about one; pre-releases are in a range. */
export function covers(requirement: string, version: Version): boolean {
  return requirement === '*' || satisfies(requirement as Requirement, version, true)
}

/** Returns the requirement of `NAME` or `NAME@REQUIREMENT`, and the name, not checked. */
export function parseDeprecated(spec: string): { name: string; requirement: string } {
  const [, name = '', requirement = '*'] = /^([^@]*)(?:@(.*))?$/s.exec(spec) ?? []
  return { name, requirement: parseRequirement(requirement) }
}

/** Says a deprecation in a sentence. */
export function deprecationText({ reason, use }: Pick<Deprecation, 'reason' | 'use'>): string {
  return `deprecated${reason === null ? '' : `: ${reason}`}${use === null ? '' : ` (use ${use})`}`
}
