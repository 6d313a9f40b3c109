import { posix } from 'node:path'
import { type Entry, indexText, renderEntry } from '../../core/entry/entry.ts'
import { parseEntry } from '../../core/entry/parse.ts'
import { type Issue, inFile, issue, Refusal } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { compareVersions, type Version, versionIdentity } from '../../core/version.ts'
import type { Place } from '../places/place.ts'
import type { StaticRelease } from './releases.ts'

/** The longest file that is read of a tree: an index file with more than 100,000 versions. */
export const READ_MAX = 64 * 1024 * 1024

/** The index file of a crate in the target. */
export interface PushedIndex {
  /** The name as its lines spell it; null without lines. */
  readonly name: Name | null
  /** The lines as they are, with what they say. */
  readonly lines: readonly { readonly text: string; readonly entry: Entry }[]
  /** Identifies these bytes of the file; null when there is no file. */
  readonly etag: string | null
}

/** Reads a crate's index file. Refuses one with a line that Cargo would not read. */
export async function readIndex(target: Place, path: string): Promise<PushedIndex> {
  const file = await target.read(path, READ_MAX)
  const texts = file ? file.bytes.toString().split('\n') : []
  try {
    const lines = texts.filter(text => text !== '').map(text => ({ text, entry: parseEntry(text) }))
    // `parseEntry` has checked the name.
    const name = (lines[0]?.entry.name ?? null) as Name | null
    return { name, lines, etag: file?.etag ?? null }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const [first, ...rest] = error.issues
    throw new Refusal([inFile(path, first), ...rest])
  }
}

/** Returns how the target spells a crate's name; null when it has no crate of this name. */
export async function findSpelling(target: Place, name: Name): Promise<Name | null> {
  const path = indexPath(name)
  const { name: same } = await readIndex(target, path)
  const separator = path.search(/[-_]/)
  if (same !== null || separator < 0) return same
  for await (const { path: other } of target.list(path.slice(0, separator))) {
    const isTwin = canonicalName(posix.basename(other)) === canonicalName(name)
    const { name: spelling } = isTwin ? await readIndex(target, other) : { name: null }
    if (spelling !== null) return spelling
  }
  return null
}

/** Returns whether an index file has a release already, or why it cannot get it. */
export function placeIn(
  { name: spelling, lines }: PushedIndex,
  { name, version, entry }: StaticRelease,
): 'missing' | 'present' | Issue {
  if (spelling !== null && spelling !== name)
    return issue('name_taken', { name, existing: spelling })
  const identity = versionIdentity(version)
  // `parseEntry` has checked the versions.
  const isTaken = ({ entry: { vers } }: PushedIndex['lines'][number]) =>
    versionIdentity(vers as Version) === identity
  const taken = lines.find(isTaken)?.entry
  if (!taken) return 'missing'
  if (taken.vers === version && taken.cksum === entry.cksum) return 'present'
  return issue('version_taken', { name, version, existing: taken.vers })
}

/** Renders an index file with more releases, by version. The lines that it has stay as they are. */
export function renderWith({ lines }: PushedIndex, more: readonly StaticRelease[]): Uint8Array {
  const added = more.map(({ entry }) => ({ text: renderEntry(entry), entry }))
  const all = [...lines, ...added].sort((a, b) =>
    compareVersions(a.entry.vers as Version, b.entry.vers as Version),
  )
  return Buffer.from(indexText(all.map(line => line.text).join('\n')))
}
