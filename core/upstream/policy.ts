import { timestamp } from '../timestamp.ts'
import type { Version } from '../version.ts'
import type { UpstreamCrate } from './crate.ts'
import { type UpstreamLine, withYanked } from './line.ts'
import type { CrateRule } from './rules.ts'

export interface UpstreamPolicy {
  /** Seconds for which a version is held after its `pubtime`. */
  readonly hold: number
  readonly allow: readonly CrateRule[]
  readonly deny: readonly CrateRule[]
  readonly lureGuard: boolean
  /** The versions that administrators have exempted from the hold. */
  readonly allowed: ReadonlySet<Version>
}

export interface Verdict {
  /**
   * `yanked`: the upstream itself has yanked it; `guarded`: around a lure, so it is shown as before;
   * `gone`: the upstream does not have it any more; `held`: it is too young, or of unknown age.
   */
  readonly state: 'shown' | 'yanked' | 'guarded' | 'gone' | 'held' | 'denied'
  /** When it will be shown in another way; no time changes that without it. */
  readonly until?: string
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
    if (denied) return { state: 'denied', rule: denied.text }
    const { gone, yanked = '' } = crate.sightings.get(line.version) ?? {}
    if (gone !== undefined) return { state: 'gone' }
    if (!line.yanked) return heldBy(line, policy, now) ?? { state: 'shown' }
    const until = later(yanked, LURE_MS)
    const isGuarded = policy.lureGuard && lure?.yanked.has(line.version) && until > timestamp(now)
    return isGuarded ? { state: 'guarded', until } : { state: 'yanked' }
  }
  return new Map(Array.from(crate.lines.values(), line => [line, verdictOf(line)]))
}

/** Returns the rule by which a version is denied; undefined without one. */
export function deniedBy(
  { name, version }: Pick<UpstreamLine, 'name' | 'version'>,
  { deny }: Pick<UpstreamPolicy, 'deny'>,
): CrateRule | undefined {
  return deny.find(({ matches }) => matches(name, version))
}

function heldBy(line: UpstreamLine, policy: UpstreamPolicy, now: Date): Verdict | null {
  const { name, version, pubtime } = line
  if (policy.hold === 0) return null
  if (policy.allow.some(({ matches }) => matches(name, version))) return null
  if (policy.allowed.has(version)) return null
  if (pubtime === null) return { state: 'held' }
  const until = later(pubtime, policy.hold * 1000)
  return until > timestamp(now) ? { state: 'held', until } : null
}

/**
 * Returns the lure in a crate: a held version within a day of which the last versions that
 * resolvers could take were yanked, so that they would move to it. Null without one.
 */
export function lureOf(crate: UpstreamCrate, policy: UpstreamPolicy, now: Date): Lure | null {
  const held: UpstreamLine[] = []
  const yanked = new Map<Version, number>()
  for (const line of crate.lines.values()) {
    const { gone, yanked: seen } = crate.sightings.get(line.version) ?? {}
    if (gone !== undefined || deniedBy(line, policy)) continue
    if (line.yanked) {
      // A version that was held when it was yanked has never been taken, and must not be now.
      const at = seen === undefined ? null : new Date(seen)
      if (at && !heldBy(line, policy, at)) yanked.set(line.version, at.getTime())
    } else if (heldBy(line, policy, now)) held.push(line)
    else return null
  }
  for (const { name, version, pubtime } of held) {
    const released = Date.parse(later(pubtime ?? '', 0))
    // Yanks of another time are their owners' own.
    const near = [...yanked].filter(([, at]) => Math.abs(at - released) <= LURE_MS)
    if (near.length > 0) return { name, version, yanked: new Set(near.map(([known]) => known)) }
  }
  return null
}

export interface ShownFile {
  readonly text: string
  /** When it will be shown in another way; null if no time changes it. */
  readonly until: string | null
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
  let until: string | null = null
  let undated = 0
  const lure = lureOf(crate, policy, now)
  for (const [line, found] of verdictsOf(crate, policy, now, lure)) {
    if (!isThere(line)) continue
    if (found.state === 'held' && found.until === undefined) undated++
    if (found.until && (until === null || found.until < until)) until = found.until
    const isShown = found.state === 'shown' || found.state === 'guarded'
    text += `${withYanked(line, !isShown).text}\n`
  }
  return { text, until, undated, lure }
}

function later(time: string, ms: number): string {
  // A `pubtime` may be in a leap second, which `Date` does not accept.
  const start = Date.parse(time.replace(':60Z', ':59Z'))
  return Number.isNaN(start) ? '' : timestamp(new Date(start + ms))
}
