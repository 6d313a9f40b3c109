import { collect } from '../error/error.ts'
import { canonicalName, isName, type Name } from '../name.ts'
import { parseRequirement, satisfies } from '../requirement.ts'
import { isVersion, type Version, versionIdentity } from '../version.ts'

/** A rule of `allow` or `deny`: all versions of a crate or of names with a prefix, or some. */
export interface CrateRule {
  readonly text: string
  readonly isAbout: (name: Name) => boolean
  readonly matches: (name: Name, version: Version) => boolean
}

/**
 * Parses `NAME`, `NAME@VERSION`, `NAME@REQUIREMENT` or `PREFIX*`; null for any other text. Names
 * are compared as registries do, without case and with `_` as `-`. A rule of `deny` takes in too much
 * rather than too little: build metadata never matters, and a range has the pre-releases in it.
 * One of `allow` is exact: a version with its build metadata, a requirement as Cargo reads it.
 */
export function parseRule(text: string, list: 'allow' | 'deny'): CrateRule | null {
  const [, start = '', star, rest] = /^([^@*]+)(?:(\*)|@ *(.+?) *)?$/.exec(text) ?? []
  if (!isName(start)) return null
  const wanted = canonicalName(start)
  const isAbout = (name: Name) => {
    const canonical = canonicalName(name)
    return star === undefined ? canonical === wanted : canonical.startsWith(wanted)
  }
  const rule = (isIn: (version: Version) => boolean): CrateRule => ({
    ...{ text, isAbout, matches: (name, version) => isAbout(name) && isIn(version) },
  })
  const isExact = list === 'allow'
  if (rest === undefined) return rule(() => true)
  if (isVersion(rest)) {
    const identity = versionIdentity(rest)
    return rule(each => (isExact ? each === rest : versionIdentity(each) === identity))
  }
  const requirement = collect([], () => parseRequirement(rest))
  if (requirement === undefined) return null
  return rule(each => satisfies(requirement, each, !isExact))
}

/** What `deny_advisories` may be; each denies what those before it deny. */
export const DENIED_KINDS = ['off', 'warn', 'vulnerable', 'unsound', 'unmaintained'] as const
