import type { Name } from '../name.ts'
import { latest, timestamp } from '../timestamp.ts'
import type { Version } from '../version.ts'
import { isSameButYanked, readLine, type UpstreamLine, withYanked } from './line.ts'

/** What this registry saw of a version, besides its line; times as in the index. */
export interface Sighting {
  /** The text of the line that the upstream has now instead of the first one. */
  readonly claim?: string
  /** When the upstream's file was first without it. */
  readonly gone?: string
  /** When it was first seen as yanked, after it had been seen otherwise. */
  readonly yanked?: string
  /** When it was first seen, if its crate was known before. */
  readonly first?: string
}

/** A crate of an upstream, as all its index files until now have told it. */
export interface UpstreamCrate {
  /** The lines of the newest file, as the upstream sent them. */
  readonly etag: string | null
  readonly lastModified: string | null
  /** The first line of each version, with the newest `yanked`, in the upstream's order. */
  readonly lines: ReadonlyMap<Version, UpstreamLine>
  readonly sightings: ReadonlyMap<Version, Sighting>
  /** Whether a `.crate` of it was here once, and was removed: its lines stay. */
  readonly isUsed?: true
}

/** Whether something was seen at a time that can only be a wrong clock's. */
export function isAhead(seen: string | undefined, now: Date): boolean {
  return seen !== undefined && seen > latest(now)
}

/** Lines that are left out: a version for the second time, another crate's, other bytes than UTF-8. */
export const LEFT_OUT = ['duplicate', 'foreign', 'encoding'] as const

/** `name`: an own crate of this registry has appeared at the upstream, too. */
export type AlarmKind = 'checksum' | 'line' | 'gone' | 'lure' | 'name' | (typeof LEFT_OUT)[number]

/** Stands for the version in an alarm about a whole crate. */
export const ANY_VERSION = '*'

/** Something that an upstream must not do, or should not have to. */
export interface Alarm {
  readonly kind: AlarmKind
  readonly name: Name
  readonly version: Version | typeof ANY_VERSION
  readonly at: string
}

export interface SeenFile extends Pick<UpstreamCrate, 'etag' | 'lastModified'> {
  /** The lines that Cargo can use, of this crate, each version once. */
  readonly lines: readonly UpstreamLine[]
}

/**
 * Returns the crate after a newer file of the upstream, and the alarms of what is new in it. A line
 * once seen changes only in `yanked`: other changes are kept as claims until somebody accepts them,
 * and a version that has vanished stays. What a wrong clock saw counts as seen now.
 */
export function seeFile(
  before: UpstreamCrate | null,
  file: SeenFile,
  now: Date,
): { readonly crate: UpstreamCrate; readonly alarms: readonly Alarm[] } {
  const at = timestamp(now)
  const lines = new Map<Version, UpstreamLine>()
  const sightings = new Map<Version, Sighting>()
  const alarms: Alarm[] = []
  const alarm = (kind: AlarmKind, { name, version }: UpstreamLine) =>
    alarms.push({ kind, name, version, at })
  for (const line of file.lines) {
    const { version } = line
    const first = before?.lines.get(version) ?? line
    const seenBefore = before?.sightings.get(version)
    const isSame = isSameButYanked(first, line)
    lines.set(version, isSame ? line : withYanked(first, line.yanked))
    if (!isSame && seenBefore?.claim !== line.text)
      alarm(first.cksum === line.cksum ? 'line' : 'checksum', line)
    const yankedAt = isAhead(seenBefore?.yanked, now) ? at : seenBefore?.yanked
    const yanked = line.yanked && (yankedAt ?? (first.yanked ? false : at))
    const isNew = before && (!before.lines.has(version) || isAhead(seenBefore?.first, now))
    const since = isNew ? at : seenBefore?.first
    const sighting = {
      ...(!isSame && { claim: line.text }),
      ...(yanked && { yanked }),
      ...(since && { first: since }),
    }
    if (!isSame || yanked || since) sightings.set(version, sighting)
  }
  for (const [version, line] of before?.lines ?? []) {
    if (lines.has(version)) continue
    const sighting = before?.sightings.get(version) ?? {}
    lines.set(version, line)
    sightings.set(version, { ...sighting, gone: sighting.gone ?? at })
    if (sighting.gone === undefined) alarm('gone', line)
  }
  // A file without a time must not let an older file in afterwards.
  const lastModified = file.lastModified ?? before?.lastModified ?? null
  const { etag } = file
  return { crate: { ...before, etag, lastModified, lines, sightings }, alarms }
}

/** Returns the crate after a user has accepted the present line of a version. */
export function acceptChange(crate: UpstreamCrate, version: Version): UpstreamCrate {
  const { claim, gone, first } = crate.sightings.get(version) ?? {}
  const lines = new Map(crate.lines)
  const sightings = new Map(crate.sightings)
  sightings.delete(version)
  if (gone !== undefined) lines.delete(version)
  else if (claim !== undefined) lines.set(version, readLine(claim))
  // To trust a line does not make its version old.
  if (gone === undefined && first) sightings.set(version, { first })
  // Asked for as a whole: there may be another build of a version that is no longer here.
  return { ...crate, etag: null, lines, sightings }
}
