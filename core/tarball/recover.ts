import { Refusal } from '../error/error.ts'
import { gather } from './bytes.ts'
import type { ArchiveFile, ArchiveLimits } from './read.ts'
import { type Member, walkTar } from './walk.ts'

type Open = () => AsyncIterable<Uint8Array>
type Visit = (file: Member, read: () => AsyncIterable<Uint8Array>) => Promise<'go on' | 'stop'>

/**
 * Reads what it can of an archive that a publish would refuse, such as those of older registries:
 * it skips links and stops where it cannot continue. Of two manifests, it returns the one that
 * Cargo would unpack last.
 */
export async function recoverArchive(
  open: Open,
  top: string,
  limits: ArchiveLimits,
): Promise<{ readonly manifest: string | null; readonly files: readonly ArchiveFile[] }> {
  const files = new Map<string, ArchiveFile>()
  let manifest: Uint8Array | null = null
  await walkFiles(open, limits.unpackedBytes, async (file, read) => {
    if (!file.path.startsWith(`${top}/`)) return 'go on'
    if (files.size >= limits.entries) return 'stop'
    const path = file.path.slice(top.length + 1)
    files.set(path, { path, size: file.size })
    if (path === 'Cargo.toml' && file.size <= limits.manifestBytes) manifest = await gather(read())
    return 'go on'
  })
  return { manifest: manifest && new TextDecoder().decode(manifest), files: [...files.values()] }
}

/** Returns the text of the file with this full path; null if it is too large or cannot be read. */
export async function readText(
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

/** A file of a `.crate` with its bytes; null if it was too large to be read. */
export interface ContentFile extends ArchiveFile {
  readonly content: Uint8Array | null
}

/** Maximum number of files that are read. */
const FILES_MAX = 100_000

/**
 * Returns the files of a `.crate` in the order of the archive, as far as it can be read. The limits
 * are for the bytes of one file, of all files, and of the unpacked archive.
 */
export async function readContents(
  open: Open,
  limits: { readonly fileBytes: number; readonly bytes: number; readonly unpackedBytes: number },
): Promise<ContentFile[]> {
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

/** Visits the regular files of an archive as far as it can be read. */
async function walkFiles(open: Open, unpackedBytes: number, visit: Visit): Promise<void> {
  try {
    await walkTar(open(), unpackedBytes, [], async (member, read) =>
      member.kind === 'file' ? visit(member, read) : 'go on',
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
}
