import type { Issue } from '../error/error.ts'
import { Refusal } from '../error/error.ts'
import type { ArchiveFile, ArchiveLimits } from './archive.ts'
import { walkTar } from './walk.ts'

/** What could be read of an archive, good or not. */
export interface Salvage {
  /** Text of `Cargo.toml` in the expected folder; of two, the one Cargo would unpack last. */
  readonly manifest: string | null
  readonly files: readonly ArchiveFile[]
  /** What the walk met; empty does not mean that the archive is good. */
  readonly issues: readonly Issue[]
}

/**
 * Reads what it can of an archive that `readArchive` refuses, as older registries have them: links are passed over, and
 * what cannot be read ends the walk, not the work. For texts that people read; nothing is unpacked, the limits hold.
 */
export async function salvageArchive(
  open: () => AsyncIterable<Uint8Array>,
  top: string,
  limits: ArchiveLimits,
): Promise<Salvage> {
  const files = new Map<string, ArchiveFile>()
  const issues: Issue[] = []
  let manifest: Uint8Array | null = null
  const walk = walkTar(open(), limits.unpackedBytes, issues, async (member, read) => {
    if (member.kind !== 'file' || !member.path.startsWith(`${top}/`)) return 'go on'
    if (files.size >= limits.entries) return 'stop'
    const path = member.path.slice(top.length + 1)
    files.set(path, { path, size: member.size })
    if (path === 'Cargo.toml' && member.size <= limits.manifestBytes)
      manifest = await gather(read())
    return 'go on'
  })
  issues.push(...(await objections(walk)))
  return {
    manifest: manifest && new TextDecoder().decode(manifest),
    files: [...files.values()],
    issues,
  }
}

/** The text of one file, as far as it can be reached; null when it cannot, or has more than `maxBytes`. */
export async function salvageFile(
  open: () => AsyncIterable<Uint8Array>,
  wanted: string,
  maxBytes: number,
  limits: ArchiveLimits,
): Promise<string | null> {
  let bytes: Uint8Array | null = null
  const walk = walkTar(open(), limits.unpackedBytes, [], async (member, read) => {
    if (member.path !== wanted || member.kind !== 'file') return 'go on'
    if (member.size <= maxBytes) bytes = await gather(read())
    return 'stop'
  })
  await objections(walk)
  return bytes && new TextDecoder().decode(bytes)
}

async function objections(walk: Promise<unknown>): Promise<readonly Issue[]> {
  try {
    await walk
    return []
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.issues
  }
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(piece)
  return Buffer.concat(parts)
}
