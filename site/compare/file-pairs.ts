export type Files = ReadonlyMap<string, Uint8Array>

/** A file that is not the same in two versions; paths are null where it is missing. */
export interface FilePair {
  readonly kind: 'added' | 'removed' | 'changed' | 'renamed'
  /** Its path in the later version, or else in the earlier one. */
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

/** Files that Cargo adds to a package, which tell little about the author's changes. */
export const MADE_BY_CARGO: ReadonlySet<string> = new Set([
  'Cargo.toml.orig',
  'Cargo.lock',
  '.cargo_vcs_info.json',
])

/** A removed and an added file with at least this share of equal bytes are one renamed file. */
const SIMILAR = 0.5

/** Most lines read to find renames, of files that keep a name and of others: part of a second. */
const LOOKUPS_MAX = 10_000_000

/**
 * Returns the files that differ between two versions, by path, with files written by Cargo last.
 * Removed and added files with the most in common are pairs, as in `git diff -M50%`.
 */
export function pairFiles(before: Files, after: Files): FilePair[] {
  const pairs: FilePair[] = []
  const removed = new Set([...before.keys()].filter(path => !after.has(path)))
  const added = new Set([...after.keys()].filter(path => !before.has(path)))
  for (const [path, bytes] of after) {
    const old = before.get(path)
    if (old && !isSame(old, bytes)) pairs.push({ kind: 'changed', path, before: path, after: path })
  }
  for (const alike of [sameFiles, similarFiles])
    for (const { from, to } of alike(before, after, removed, added)) {
      if (!removed.has(from) || !added.has(to)) continue
      pairs.push({ kind: 'renamed', path: to, before: from, after: to })
      removed.delete(from)
      added.delete(to)
    }
  for (const path of removed) pairs.push({ kind: 'removed', path, before: path, after: null })
  for (const path of added) pairs.push({ kind: 'added', path, before: null, after: path })
  const rank = ({ path }: FilePair) => Number(MADE_BY_CARGO.has(path))
  return pairs.sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))
}

/** Returns what must be renamed files: those with the same bytes, and first those with one name. */
function* sameFiles(
  before: Files,
  after: Files,
  removed: ReadonlySet<string>,
  added: ReadonlySet<string>,
) {
  const summed = (files: Files, paths: ReadonlySet<string>) =>
    [...paths].map(path => ({ path, sum: sumOf(files.get(path) ?? new Uint8Array()) }))
  const [old, now] = [summed(before, removed), summed(after, added)]
  for (const nameIn of [nameOf, () => '']) {
    const there = new Map<string, string[]>()
    for (const { path, sum } of old) {
      if (!removed.has(path)) continue
      const key = `${nameIn(path)}/${sum}`
      const same = there.get(key) ?? []
      same.push(path)
      there.set(key, same)
    }
    for (const { path: to, sum } of now) {
      if (!added.has(to)) continue
      const from = there.get(`${nameIn(to)}/${sum}`)?.shift() ?? ''
      const [was, is] = [before.get(from), after.get(to)]
      // Sums can be equal on purpose: no more than one file is compared for each.
      if (was && is && is.length > 0 && isSame(was, is)) yield { from, to }
    }
  }
}

/** Returns a key that is equal for equal bytes, and seldom for others. */
function sumOf(bytes: Uint8Array): string {
  let [x, y] = [0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    x = (Math.imul(x, 33) + byte) | 0
    y = (Math.imul(y, 65_599) + byte) | 0
  }
  return `${bytes.length} ${x} ${y}`
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns what may be renamed files: the most similar first; of equals, those with one name. */
function similarFiles(
  before: Files,
  after: Files,
  removed: ReadonlySet<string>,
  added: ReadonlySet<string>,
) {
  const counted = (files: Files, paths: ReadonlySet<string>) =>
    [...paths].map(path => ({
      path,
      name: nameOf(path),
      ...countChunks(files.get(path) ?? new Uint8Array()),
    }))
  const [old, now] = [counted(before, removed), counted(after, added)]
  const candidates: { from: string; to: string; score: number; isNamed: boolean }[] = []
  const left = { moved: LOOKUPS_MAX, other: LOOKUPS_MAX }
  for (const there of now) {
    for (const here of old) {
      const [least, most] = [Math.min(here.bytes, there.bytes), Math.max(here.bytes, there.bytes)]
      const isNamed = here.name === there.name
      const kind = isNamed ? 'moved' : 'other'
      if (least === 0 || least < most * SIMILAR || left[kind] < 0) continue
      left[kind] -= here.chunks.size
      const score = bytesInBoth(here.chunks, there.chunks) / most
      if (score >= SIMILAR) candidates.push({ from: here.path, to: there.path, score, isNamed })
    }
  }
  return candidates.sort((a, b) => b.score - a.score || Number(b.isNamed) - Number(a.isNamed))
}

function bytesInBoth(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): number {
  let sum = 0
  for (const [chunk, bytes] of a) sum += Math.min(bytes, b.get(chunk) ?? 0)
  return sum
}

const [NEWLINE, RETURN] = [10, 13]

/** The most bytes of a chunk; longer lines have several. */
const CHUNK_MAX = 64

/** Counts the bytes of each line by its hash, as git does (`diffcore-delta.c`). */
function countChunks(content: Uint8Array): { bytes: number; chunks: ReadonlyMap<number, number> } {
  const chunks = new Map<number, number>()
  let [length, x, y] = [0, 0, 0]
  const close = () => {
    const chunk = (x >>> 0) * 0x20_0000 + (y & 0x1f_ffff)
    if (length > 0) chunks.set(chunk, (chunks.get(chunk) ?? 0) + length)
    length = x = y = 0
  }
  for (let at = 0; at < content.length; at++) {
    const byte = content[at] ?? 0
    if (byte === RETURN && content[at + 1] === NEWLINE) continue
    x = Math.imul(x, 33) + byte
    y = Math.imul(y, 65_599) + byte
    if (++length === CHUNK_MAX || byte === NEWLINE) close()
  }
  close()
  return { bytes: content.length, chunks }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
