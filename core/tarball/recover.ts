import { type Issue, Refusal } from '../error/error.ts'
import type { ArchiveFile, ArchiveLimits } from './archive.ts'
import { gather } from './bytes.ts'
import { type Member, walkTar } from './walk.ts'

type Open = () => AsyncIterable<Uint8Array>
type Visit = (file: Member, read: () => AsyncIterable<Uint8Array>) => Promise<'go on' | 'stop'>

/** What could be read from an archive, good or not. */
export interface RecoveredArchive {
  /** Text of `Cargo.toml` in the expected folder; of two, the one Cargo would unpack last. */
  readonly manifest: string | null
  readonly files: readonly ArchiveFile[]
  /** Problems on the way; an archive without any may still be bad. */
  readonly issues: readonly Issue[]
}

/**
 * Reads what it can from an archive that `readArchive` refuses, as older registries have them: it
 * skips links, and what cannot be read ends the reading. Nothing is unpacked, the limits hold.
 */
export async function recoverArchive(
  open: Open,
  top: string,
  limits: ArchiveLimits,
): Promise<RecoveredArchive> {
  const files = new Map<string, ArchiveFile>()
  let manifest: Uint8Array | null = null
  const issues = await walkFiles(open, limits.unpackedBytes, async (file, read) => {
    if (!file.path.startsWith(`${top}/`)) return 'go on'
    if (files.size >= limits.entries) return 'stop'
    const path = file.path.slice(top.length + 1)
    files.set(path, { path, size: file.size })
    if (path === 'Cargo.toml' && file.size <= limits.manifestBytes) manifest = await gather(read())
    return 'go on'
  })
  return {
    manifest: manifest && new TextDecoder().decode(manifest),
    files: [...files.values()],
    issues,
  }
}

/** The text of one file, if it can be reached; null if not, or beyond `maxBytes`. */
export async function recoverFile(
  open: Open,
  path: string,
  maxBytes: number,
  limits: ArchiveLimits,
): Promise<string | null> {
  let bytes: Uint8Array | null = null
  await walkFiles(open, limits.unpackedBytes, async (file, read) => {
    if (file.path !== path) return 'go on'
    if (file.size <= maxBytes) bytes = await gather(read())
    return 'stop'
  })
  return bytes && new TextDecoder().decode(bytes)
}

/** A file of a `.crate` with its bytes; null for one that was too large to be read. */
export interface ContentFile {
  /** Path below the top folder. */
  readonly path: string
  readonly size: number
  readonly content: Uint8Array | null
}

/** Limits on the bytes read from one file and from all, and on what is unpacked to find them. */
export interface ContentLimits {
  readonly fileBytes: number
  readonly bytes: number
  readonly unpackedBytes: number
}

/** Most files that are read. */
const FILES_MAX = 100_000

/**
 * The files of a `.crate`, in the order of the archive, as far as it can be read: an import accepts
 * what its users build with, even where a publish would be refused.
 */
export async function readContents(open: Open, limits: ContentLimits): Promise<ContentFile[]> {
  const files = new Map<string, ContentFile>()
  let left = limits.bytes
  await walkFiles(open, limits.unpackedBytes, async ({ path: full, size }, read) => {
    const isRead = size <= limits.fileBytes && size <= left
    const content = isRead ? await gather(read()) : null
    if (isRead) left -= size
    const path = full.slice(full.indexOf('/') + 1)
    files.set(path, { path, size, content })
    return files.size < FILES_MAX ? 'go on' : 'stop'
  })
  return [...files.values()]
}

/** Visits the regular files of an archive as far as it can be read; gives the objections to it. */
async function walkFiles(open: Open, unpackedBytes: number, visit: Visit): Promise<Issue[]> {
  const issues: Issue[] = []
  try {
    await walkTar(open(), unpackedBytes, issues, async (member, read) =>
      member.kind === 'file' ? visit(member, read) : 'go on',
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    issues.push(...error.issues)
  }
  return issues
}
