// core/upstream: Which versions of an upstream are held or denied, and what Cargo must know of it.
// It never asks a server.
import { type Advisory, covers } from '../advisory/advisory.ts'
import type { Version } from '../version.ts'
import { isAhead, type Sighting, type UpstreamCrate } from './crate.ts'
import { type UpstreamLine, withYanked } from './line.ts'
import { type CrateRule, DENIED_KINDS } from './rules.ts'

export interface UpstreamPolicy {
  /** Seconds for which a version is held: after its `pubtime`, or since it was first seen. */
  readonly hold: number
  readonly allow: readonly CrateRule[]
  readonly deny: readonly CrateRule[]
  readonly lureGuard: boolean
  /** The versions that administrators have exempted from the hold. */
  readonly allowed: ReadonlySet<Version>
  readonly advisories: AdvisoryRules
}

export interface Verdict {
  /**
   * `yanked`: the upstream itself has yanked it; `guarded`: around a lure, so it is shown as before;
   * `gone`: the upstream does not have it any more; `held`: it is too young, or of unknown age.
   */
  readonly state: 'shown' | 'yanked' | 'guarded' | 'gone' | 'held' | 'denied'
  /**
   * When it will be shown in another way, in milliseconds since 1970: the year may be 10000, which
   * texts put before all others. No time changes it without one.
   */
  readonly until?: number
  /** The setting that denies it, and its rule or the advisory. */
  readonly rule?: string
}

/** A held version, and the versions that were yanked around its release. */
export interface Lure extends Pick<UpstreamLine, 'name' | 'version'> {
  readonly yanked: ReadonlySet<Version>
}

/** How long around the release of a lure yanks belong to it, and how long the guard holds. */
const LURE_MS = 86_400_000

/** Returns how each version of a crate is shown, in the order of its lines. */
export function verdictsOf(
  crate: UpstreamCrate,
  policy: UpstreamPolicy,
  now: Date,
  lure = lureOf(crate, policy, now),
): Map<UpstreamLine, Verdict> {
  const verdictOf = (line: UpstreamLine): Verdict => {
    const denied = deniedBy(line, policy)
    if (denied) return { state: 'denied', rule: denied }
    const seen = crate.sightings.get(line.version) ?? {}
    if (seen.gone !== undefined) return { state: 'gone' }
    if (!line.yanked) return heldBy(line, seen, policy, now) ?? { state: 'shown' }
    const until = timeOf(seen.yanked ?? '') + LURE_MS
    const isLately = until > now.getTime() && !isAhead(seen.yanked, now)
    const isGuarded = isLately && lure?.yanked.has(line.version)
    return policy.lureGuard && isGuarded ? { state: 'guarded', until } : { state: 'yanked' }
  }
  return new Map(Array.from(crate.lines.values(), line => [line, verdictOf(line)]))
}

/** Returns the setting by which a version is denied, with its rule; undefined without one. */
export function deniedBy(
  line: Pick<UpstreamLine, 'name' | 'version'>,
  policy: Pick<UpstreamPolicy, 'allow' | 'deny' | 'allowed' | 'advisories'>,
): string | undefined {
  const rule = policy.deny.find(({ matches }) => matches(line.name, line.version))
  if (rule) return `deny: ${rule.text}`
  const { denying } = advisoriesOfVersion(policy.advisories, line.version)
  return denying && !isAllowed(line, policy) ? `deny_advisories: ${denying.id}` : undefined
}

function isAllowed(
  { name, version }: Pick<UpstreamLine, 'name' | 'version'>,
  { allow, allowed }: Pick<UpstreamPolicy, 'allow' | 'allowed'>,
): boolean {
  return allowed.has(version) || allow.some(({ matches }) => matches(name, version))
}

function heldBy(
  line: UpstreamLine,
  seen: Sighting,
  policy: UpstreamPolicy,
  now: Date,
): Verdict | null {
  const { pubtime } = line
  if (policy.hold === 0 || isAllowed(line, policy)) return null
  if (pubtime === null || isAhead(seen.first, now)) return { state: 'held' }
  const until = releaseTime(line, seen) + policy.hold * 1000
  return until > now.getTime() ? { state: 'held', until } : null
}

/** Returns when a version became known; what its own line says may be dated back. */
function releaseTime({ pubtime }: UpstreamLine, { first }: Sighting): number {
  return timeOf(first ?? pubtime ?? '')
}

/**
 * Returns the lure in a crate: a held version within a day of which the last versions that
 * resolvers could take were yanked, so that they would move to it. Null without one.
 */
export function lureOf(crate: UpstreamCrate, policy: UpstreamPolicy, now: Date): Lure | null {
  const held: UpstreamLine[] = []
  const yanked = new Map<Version, number>()
  for (const line of crate.lines.values()) {
    const seen = crate.sightings.get(line.version) ?? {}
    if (seen.gone !== undefined || deniedBy(line, policy)) continue
    if (line.yanked) {
      // A version that was held when it was yanked has never been taken, and must not be now.
      const at = seen.yanked === undefined ? null : new Date(seen.yanked)
      if (at && !heldBy(line, seen, policy, at)) yanked.set(line.version, at.getTime())
    } else if (heldBy(line, seen, policy, now)) held.push(line)
    else return null
  }
  for (const line of held) {
    const { name, version } = line
    const released = releaseTime(line, crate.sightings.get(version) ?? {})
    // Yanks of another time are their owners' own.
    const near = [...yanked].filter(([, at]) => Math.abs(at - released) <= LURE_MS)
    if (near.length > 0) return { name, version, yanked: new Set(near.map(([other]) => other)) }
  }
  return null
}

export interface ShownFile {
  readonly text: string
  /** When it will be shown in another way, in milliseconds since 1970; null if no time does it. */
  readonly until: number | null
  /** The versions that are held because nobody knows their age. */
  readonly undated: number
  readonly lure: Lure | null
}

/**
 * Renders the index file of a crate: lines as the upstream has them, except that held, denied and
 * vanished versions are yanked. `isThere` leaves out all others.
 */
export function showFile(
  crate: UpstreamCrate,
  policy: UpstreamPolicy,
  now: Date,
  isThere: (line: UpstreamLine) => boolean = () => true,
): ShownFile {
  let text = ''
  let until: number | null = null
  let undated = 0
  const lure = lureOf(crate, policy, now)
  for (const [line, verdict] of verdictsOf(crate, policy, now, lure)) {
    if (!isThere(line)) continue
    if (verdict.state === 'held' && verdict.until === undefined) undated++
    if (verdict.until && (until === null || verdict.until < until)) until = verdict.until
    const isShown = verdict.state === 'shown' || verdict.state === 'guarded'
    text += `${withYanked(line, !isShown).text}\n`
  }
  return { text, until, undated, lure }
}

function timeOf(text: string): number {
  // A `pubtime` may be in a leap second, which `Date` does not accept.
  return Date.parse(text.replace(':60Z', ':59Z'))
}

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
