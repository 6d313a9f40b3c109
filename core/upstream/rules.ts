import { collect } from '../error/error.ts'
import { canonicalName, isName, type Name } from '../name.ts'
import { parseRequirement, satisfies } from '../requirement.ts'
import { isVersion, type Version } from '../version.ts'

/** A rule of `allow` or `deny`: all versions of a crate or of names with a prefix, or some. */
export interface CrateRule {
  readonly text: string
  readonly matches: (name: Name, version: Version) => boolean
}

/**
 * Parses `NAME`, `NAME@VERSION`, `NAME@REQUIREMENT` or `PREFIX*`; null for any other text. Names
 * are compared as registries do, without case and with `_` as `-`.
 */
export function parseRule(text: string): CrateRule | null {
  const [, start = '', star, rest] = /^([^@*]+)(?:(\*)|@(.+))?$/.exec(text) ?? []
  if (!isName(start)) return null
  const wanted = canonicalName(start)
  if (star !== undefined) return { text, matches: name => canonicalName(name).startsWith(wanted) }
  const isCrate = (name: Name) => canonicalName(name) === wanted
  if (rest === undefined) return { text, matches: isCrate }
  if (isVersion(rest))
    return { text, matches: (name, version) => isCrate(name) && version === rest }
  const requirement = collect([], () => parseRequirement(rest))
  if (requirement === undefined) return null
  return { text, matches: (name, version) => isCrate(name) && satisfies(requirement, version) }
}
