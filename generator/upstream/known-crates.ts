import type { Name } from '../../core/name.ts'
import { KNOWN_FOLDER, knownPath } from '../../core/paths/upstream.ts'
import type { Sighting, UpstreamCrate } from '../../core/upstream/crate.ts'
import { readLine, type UpstreamLine } from '../../core/upstream/line.ts'
import type { Version } from '../../core/version.ts'
import { paced } from '../database/pace.ts'
import type { Place } from '../places/place.ts'

export interface KnownCrate {
  readonly crate: UpstreamCrate
  readonly tag: string
  /** When the upstream last confirmed it, in milliseconds since 1970; 0 if this is unknown. */
  readonly checked: number
}

/** The first line of a file; the lines of the index follow it as they are. */
interface Head extends Omit<UpstreamCrate, 'lines' | 'sightings'> {
  readonly sightings: Readonly<Record<string, Sighting>>
}

/** Twice what is ever kept of a crate. */
const FILE_MAX = 128 * 1024 * 1024

/** Reads what is known of a crate; `held` itself if that is what is there, null if nothing is. */
export async function readKnown(
  place: Place,
  name: Name,
  held: KnownCrate | null = null,
): Promise<KnownCrate | null> {
  const file = await place.read(knownPath(name), FILE_MAX)
  if (!file) return null
  if (held?.tag === file.etag) return held
  const [first = '', ...texts] = file.bytes.toString('utf8').split('\n').slice(0, -1)
  const { sightings, ...head }: Head = JSON.parse(first)
  const lines = new Map<Version, UpstreamLine>()
  for (const text of texts) {
    const line = await paced(() => readLine(text))
    lines.set(line.version, line)
  }
  const seen = new Map(Object.entries(sightings) as [Version, Sighting][])
  const crate = { ...head, lines, sightings: seen }
  return { crate, tag: file.etag, checked: held?.checked ?? 0 }
}

/**
 * Writes what is known of a crate in place of what it was made from. Returns null when somebody
 * else has written meanwhile, and nothing was done.
 */
export async function writeKnown(
  place: Place,
  name: Name,
  crate: UpstreamCrate,
  before: KnownCrate | null,
): Promise<KnownCrate | null> {
  const onlyIf = before ? { etag: before.tag } : ('absent' as const)
  const { lines, sightings, ...rest } = crate
  const bytes = await paced(() => {
    const head: Head = { ...rest, sightings: Object.fromEntries(sightings) }
    const texts = [JSON.stringify(head), ...Array.from(lines.values(), ({ text }) => text)]
    return Buffer.from(`${texts.join('\n')}\n`)
  })
  const tag = await place.put(knownPath(name), bytes, { onlyIf })
  return tag === null ? null : { crate, tag, checked: before?.checked ?? 0 }
}

/** Whether anything is known of a crate. */
export async function hasKept(place: Place): Promise<boolean> {
  for await (const { size } of place.list(`${KNOWN_FOLDER}/`)) return size > 0
  return false
}

/** Returns the characters of all that is known of a crate. */
export function sizeOf({ lines, sightings }: UpstreamCrate): number {
  const claims = [...sightings.values()].reduce((sum, { claim = '' }) => sum + claim.length, 0)
  return [...lines.values()].reduce((sum, { text }) => sum + text.length, claims)
}
