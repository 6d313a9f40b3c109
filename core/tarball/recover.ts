import { type Issue, refusalOnly, refuse } from '../error/error.ts'
import { decodeUtf8, gather } from './bytes.ts'
import { ContentsCount } from './contents.ts'
import { walkGzip } from './gzip.ts'
import { PART_MAX, PathBook } from './paths.ts'
import type { Archive, ArchiveFile, ArchiveLimits, Open } from './read.ts'
import { ISSUES_MAX, type Member } from './walk.ts'

const LINUX_PATH_MAX = 4096

type Visit = (file: Member, read: Open) => Promise<'go on' | 'stop'>

/** Cargo's own limits for unpacking (`sources/registry/mod.rs`). */
const UNPACKED_MAX = 512 * 1024 * 1024
const RATIO_MAX = 20

/** Returns how much is read of a `.crate` of this size that was accepted before. */
export function unpackedLimit(size: number): number {
  return Math.max(UNPACKED_MAX, RATIO_MAX * size)
}

/** What Cargo unpacks of a `.crate`. */
export interface Unpacked extends Pick<Archive, 'files' | 'contents'> {
  readonly top: string
  /** Null if it cannot be read. */
  readonly manifest: string | null
  /** Why no Cargo can use it, which is found in the end; null if nothing is in the way. */
  readonly fault: Issue | null
  /** Members that are neither file nor folder, which Cargo refuses since 1.96, or lead outside. */
  readonly odd: readonly Issue[]
}

/**
 * Reads a published `.crate` as Cargo unpacks it: of several files with one path, the last counts.
 * Its folder is `top`; with null, what the first member is in. `visit` gets each file and folder by
 * its path below that.
 */
export async function recoverArchive(
  open: Open,
  top: string | null,
  limits: ArchiveLimits,
  visit?: Visit,
): Promise<Unpacked> {
  const kinds = new Map<string, Member['kind']>()
  const files = new Map<string, ArchiveFile>()
  const count = new ContentsCount()
  const odd: Issue[] = []
  let root = top
  let manifest: Uint8Array | null = null
  let fault: Issue | null = null
  const each: Visit = async (member, read) => {
    root ??= member.path.replace(/\/.*/s, '')
    const path = unpackedPath(member, root)
    if (path === null && odd.length < ISSUES_MAX) odd.push(...PathBook.issues(member.path))
    if (path === null || member.kind === 'other') return 'go on'
    place(path, member.kind, kinds)
    await visit?.({ ...member, path }, read)
    if (member.kind === 'folder') return 'go on'
    const file = { path, size: member.size }
    files.set(path, file)
    const isRead = path === 'Cargo.toml' && file.size <= limits.manifestBytes
    if (isRead && !visit) manifest = await gather(read())
    if (!visit) await count.add(file, read)
    return kinds.size < limits.entries ? 'go on' : 'stop'
  }
  try {
    await walkGzip(open(), limits.unpackedBytes, odd, each, 'cargo')
    if (!files.has('Cargo.toml') && kinds.size < limits.entries) refuse('archive_manifest_missing')
    if (manifest && decodeUtf8(manifest) === null)
      refuse('archive_file_encoding', { path: 'Cargo.toml' })
  } catch (error) {
    fault = refusalOnly(error).issues[0]
  }
  const archive = { top: root ?? '', files: [...files.values()], contents: count.contents }
  return { ...archive, manifest: manifest && new TextDecoder().decode(manifest), fault, odd }
}

/** Returns where a member goes below the top folder; null if Cargo passes over it. */
function unpackedPath({ path }: Member, root: string): string | null {
  if (path.replace(/\/.*/s, '') !== root || root === '') refuse('archive_root', { path, root })
  const parts = partsBelowTop(path)
  if (parts.includes('..') || parts.at(-1) === '.cargo-ok') return null
  if (path.includes('\0')) refuse('archive_path', { path, reason: 'it contains a NUL' })
  if (path.length > LINUX_PATH_MAX || parts.some(part => Buffer.byteLength(part) > PART_MAX))
    refuse('archive_path', { path: path.slice(0, PART_MAX), reason: 'no disk takes its length' })
  return parts.join('/')
}

function place(path: string, kind: Member['kind'], kinds: Map<string, Member['kind']>): void {
  const kindBefore = path === '' ? 'folder' : kinds.get(path)
  if (kindBefore && kindBefore !== kind)
    refuse('archive_path', { path, reason: 'it is both a file and a folder' })
  if (kindBefore || path === '') return
  kinds.set(path, kind)
  place(path.slice(0, Math.max(0, path.lastIndexOf('/'))), 'folder', kinds)
}

/**
 * Returns the text of a file below the top folder; null if it is too large or cannot be read. A
 * published `.crate` may have several, of which the last counts. U+0000 becomes U+FFFD, as
 * CommonMark wants it.
 */
export async function readText(
  open: Open,
  path: string,
  maxBytes: number,
  limits: Pick<ArchiveLimits, 'unpackedBytes'>,
  which: 'only' | 'last' = 'only',
): Promise<string | null> {
  let bytes: Uint8Array | null = null
  await walkFiles(open, limits.unpackedBytes, async (file, read) => {
    if (file.path !== path) return 'go on'
    bytes = file.size <= maxBytes ? await gather(read()) : null
    return which === 'last' ? 'go on' : 'stop'
  })
  return bytes && new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
}

const FILES_MAX = 100_000

/** Lists the files of a `.crate` in the order of the archive, as far as it is readable. */
export async function listFiles(open: Open, unpackedBytes: number): Promise<ArchiveFile[]> {
  const files = new Map<string, ArchiveFile>()
  await walkFiles(open, unpackedBytes, async ({ path, size }) => {
    files.set(path, { path, size })
    return files.size < FILES_MAX ? 'go on' : 'stop'
  })
  return [...files.values()]
}

/** Returns the wanted files within limits for each and all; of several with one path, the last. */
export async function readFiles(
  open: Open,
  wanted: ReadonlySet<string>,
  limits: { readonly fileBytes: number; readonly bytes: number; readonly unpackedBytes: number },
): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  let left = limits.bytes
  await walkFiles(open, limits.unpackedBytes, async ({ path, size }, read) => {
    if (!wanted.has(path)) return 'go on'
    left += files.get(path)?.length ?? 0
    files.delete(path)
    if (size > Math.min(limits.fileBytes, left)) return 'go on'
    files.set(path, await gather(read()))
    left -= size
    return 'go on'
  })
  return files
}

/** Visits the files of a `.crate` below its top folder, as far as Cargo can read it. */
async function walkFiles(open: Open, unpackedBytes: number, visit: Visit): Promise<void> {
  const each: Visit = async (member, read) => {
    const path = partsBelowTop(member.path).join('/')
    return member.kind === 'file' ? visit({ ...member, path }, read) : 'go on'
  }
  await walkGzip(open(), unpackedBytes, [], each, 'cargo').catch(refusalOnly)
}

/** Returns the parts of a path below its first one; Cargo passes over those that mean nothing. */
function partsBelowTop(path: string): string[] {
  const [, ...rest] = path.split('/')
  return rest.filter(part => part !== '' && part !== '.')
}
