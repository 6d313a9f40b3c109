import { refusalOnly } from '../error/error.ts'
import { gather } from './bytes.ts'
import { ContentsCount } from './contents.ts'
import { walkGzip } from './gzip.ts'
import type { ArchiveFile, ArchiveLimits, Open } from './read.ts'
import type { Member } from './walk.ts'

type Visit = (file: Member, read: Open) => Promise<'go on' | 'stop'>

/**
 * Reads as much as possible of an archive that a publish would refuse, such as those of older
 * registries: skips links and stops where it cannot continue. If there are two manifests, returns
 * the one that Cargo would unpack last.
 */
export async function recoverArchive(open: Open, top: string, limits: ArchiveLimits) {
  const files = new Map<string, ArchiveFile>()
  const count = new ContentsCount()
  let manifest: Uint8Array | null = null
  await walkFiles(open, limits.unpackedBytes, async (file, read) => {
    if (!file.path.startsWith(`${top}/`)) return 'go on'
    if (files.size >= limits.entries) return 'stop'
    const path = file.path.slice(top.length + 1)
    files.set(path, { path, size: file.size })
    if (path === 'Cargo.toml' && file.size <= limits.manifestBytes) manifest = await gather(read())
    await count.add({ path, size: file.size }, read)
    return 'go on'
  })
  const text = manifest && new TextDecoder().decode(manifest)
  return { manifest: text, files: [...files.values()], contents: count.contents }
}

/**
 * Returns the text of the file with this full path; null if it is too large or cannot be read.
 * U+0000 becomes U+FFFD, as CommonMark wants it.
 */
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
  return bytes && new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
}

const FILES_MAX = 100_000

/** Lists the files of a `.crate` in the order of the archive, as far as it is readable. */
export async function listFiles(open: Open, unpackedBytes: number): Promise<ArchiveFile[]> {
  const files = new Map<string, ArchiveFile>()
  await walkBelowTop(open, unpackedBytes, async file => files.set(file.path, file))
  return [...files.values()]
}

/** Returns the requested files that the `.crate` has, within limits for each and for all. */
export async function readFiles(
  open: Open,
  wanted: ReadonlySet<string>,
  limits: { readonly fileBytes: number; readonly bytes: number; readonly unpackedBytes: number },
): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  let left = limits.bytes
  await walkBelowTop(open, limits.unpackedBytes, async ({ path, size }, read) => {
    if (wanted.has(path) && size <= limits.fileBytes && size <= left) {
      files.set(path, await gather(read()))
      left -= size
    }
    return files.size < wanted.size ? 'go on' : 'stop'
  })
  return files
}

async function walkBelowTop(
  open: Open,
  unpackedBytes: number,
  visit: (file: ArchiveFile, read: Open) => Promise<unknown>,
): Promise<void> {
  let files = 0
  await walkFiles(open, unpackedBytes, async ({ path, size }, read) => {
    const below = path.slice(path.indexOf('/') + 1)
    const answer = await visit({ path: below, size }, read)
    return answer === 'stop' || ++files >= FILES_MAX ? 'stop' : 'go on'
  })
}

async function walkFiles(open: Open, unpackedBytes: number, visit: Visit): Promise<void> {
  try {
    await walkGzip(open(), unpackedBytes, [], async (member, read) =>
      member.kind === 'file' ? visit(member, read) : 'go on',
    )
  } catch (error) {
    refusalOnly(error)
  }
}
