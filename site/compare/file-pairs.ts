import { createHash } from 'node:crypto'
import type { SourceFile } from '../source/files.ts'

/** A file that is not the same in two versions. */
export interface FilePair {
  readonly kind: 'added' | 'removed' | 'changed' | 'renamed'
  /** Its path in the version that has it, or in the later one. */
  readonly path: string
  readonly before: SourceFile | null
  readonly after: SourceFile | null
}

/** Files that Cargo adds to a package; they are shown last. */
const MADE_BY_CARGO: ReadonlySet<string> = new Set([
  'Cargo.toml.orig',
  'Cargo.lock',
  '.cargo_vcs_info.json',
])

/** Whether Cargo made a file, so that it hardly tells what its author changed. */
export function isMadeByCargo(path: string): boolean {
  return MADE_BY_CARGO.has(path)
}

/**
 * Returns the files that differ between two versions, by path, those made by Cargo last. A file
 * that was removed and added elsewhere with the same bytes is renamed.
 */
export function pairFiles(
  before: readonly SourceFile[],
  after: readonly SourceFile[],
): readonly FilePair[] {
  const [old, now] = [byPath(before), byPath(after)]
  const removed = before.filter(one => !now.has(one.path))
  const bytes = new Map(removed.filter(one => one.size > 0).map(one => [digestOf(one), one]))
  const pairs: FilePair[] = []
  for (const file of now.values()) {
    const known = old.get(file.path)
    if (known && isSame(known, file)) continue
    const twin = known || bytes.size === 0 ? undefined : bytes.get(digestOf(file))
    if (twin) bytes.delete(digestOf(twin))
    if (twin) old.delete(twin.path)
    const kind = known ? 'changed' : twin ? 'renamed' : 'added'
    pairs.push({ kind, path: file.path, before: known ?? twin ?? null, after: file })
  }
  for (const file of removed)
    if (old.has(file.path))
      pairs.push({ kind: 'removed', path: file.path, before: file, after: null })
  const rank = ({ path }: FilePair) => Number(isMadeByCargo(path))
  return pairs.sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))
}

function byPath(files: readonly SourceFile[]): Map<string, SourceFile> {
  return new Map(files.map(one => [one.path, one]))
}

function isSame(a: SourceFile, b: SourceFile): boolean {
  if (a.size !== b.size) return false
  if (a.content !== null && b.content !== null) return Buffer.compare(a.content, b.content) === 0
  return digestOf(a) === digestOf(b)
}

function digestOf({ content, digest, path }: SourceFile): string {
  // Without a digest, nothing proves that two files are the same.
  if (content === null) return digest ?? path
  return createHash('sha256').update(content).digest('hex')
}
