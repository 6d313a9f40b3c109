import { isDeepStrictEqual } from 'node:util'
import type { Dependency } from '../../core/entry/entry.ts'
import type { Code } from '../../core/error/error.ts'
import { parseRequirement } from '../../core/requirement.ts'

/**
 * One field in which the derived entry (`ours`) and the published line (`theirs`) differ; null
 * where it is missing.
 */
export interface Difference {
  readonly crate: string
  readonly field: string
  readonly ours: unknown
  readonly theirs: unknown
  /** When the version was published, from the line. */
  readonly published: string | null
}

/** Before crates.io kept `links` of what is published. */
const LINKS_KEPT = '2018-07'
/**
 * Before it took dependencies from the packaged manifest: until then they are as the publisher's
 * Cargo printed them.
 */
const MANIFEST_READ = '2023-10'
/** Before it printed the targets of manifests as Cargo prints them. */
const TARGETS_PRINTED = '2026-10-28'
/** What the first Cargos packed twice. */
const PACKED_TWICE: readonly Code[] = ['archive_path_twice', 'archive_manifest_twice']

/** Versions whose lines crates.io has changed after the fact. */
const CHANGED: Readonly<Record<string, string>> = {
  'winapi-0.2.8': 'crates.io deleted crates that it depended on, and with them the dependencies',
}

/** Why crates.io's line rightly differs from the manifest; null when that is not known. */
export function explain(one: Difference): string | null {
  const published = one.published ?? ''
  if (one.field === 'links' && one.theirs === null && published < LINKS_KEPT)
    return 'crates.io did not keep `links` yet'
  const [ours, theirs] = [one.ours as Dependency | null, one.theirs as Dependency | null]
  if (!one.field.startsWith('dep ')) return null
  if (theirs === null) return CHANGED[one.crate] ?? null
  if (ours === null) return null
  const rest = (dependency: Dependency) => ({ ...dependency, req: '', target: '' })
  if (!isDeepStrictEqual(rest(ours), rest(theirs))) return null
  const isOtherTarget = bare(ours.target) !== bare(theirs.target)
  if (published >= TARGETS_PRINTED && ours.req === theirs.req && !isOtherTarget)
    return 'crates.io prints targets as Cargo does'
  if (published >= MANIFEST_READ) return null
  if (ours.req !== theirs.req && meaning(ours.req) === meaning(theirs.req))
    return 'an old Cargo printed the requirement otherwise'
  return isOtherTarget ? null : 'an old Cargo printed the target otherwise'
}

/**
 * Why a crate that crates.io took in early years is rightly refused today; null when that is not
 * known.
 */
export function explainRefusal(codes: readonly Code[], published: string | null): string | null {
  if (codes.every(one => PACKED_TWICE.includes(one)) && (published ?? '') < '2016')
    return 'the first Cargos packed some files twice; two readers may see two crates'
  if (codes.every(one => one === 'manifest_requirement') && (published ?? '') < '2016')
    return "today's Cargo cannot read it either"
  return null
}

/** One text for requirements that mean the same; before 2021 Cargo printed `^0.*` as `0.*`. */
function meaning(requirement: string): string {
  return parseRequirement(requirement).replace(/^\^?(\d+)(\.\*)?$/, '^$1')
}

/** The target without the spaces that Cargo adds. */
export function bare(target: string | null): string {
  return (target ?? '').replaceAll(' ', '')
}
