import { type Issue, issue, Refusal } from '../../core/error/error.ts'
import type { Adoption, AdoptParts } from '../../core/release/adopt.ts'
import type { Inspection, InspectParts } from '../../core/release/inspect.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { ArchiveFile, ArchiveLimits } from '../../core/tarball/read.ts'
import { unpackedLimit } from '../../core/tarball/recover.ts'
import { type Client, sandbox } from './sandbox.ts'
import type { Content, PublishedCrate } from './tasks.ts'
import { SandboxError } from './thread.ts'

/** Returns how much may be read from a `.crate` of this size. */
export function archiveLimits(
  { limits, policy }: Pick<Settings, 'limits' | 'policy'>,
  size: number,
): ArchiveLimits {
  return {
    unpackedBytes: Math.max(limits.unpacked_bytes, limits.unpacked_ratio * size),
    entries: limits.archive_entries,
    manifestBytes: limits.manifest_bytes,
    readmeBytes: limits.readme_bytes,
    duplicateManifest: policy.duplicate_manifest === 'allow',
  }
}

/**
 * Runs `inspectCrate` when it is the client's turn; an archive that takes too much time or memory to
 * read is an issue. Refuses when too many archives are waiting.
 */
export async function inspectArchive(
  content: Content,
  parts: InspectParts,
  client?: Client,
): Promise<Inspection> {
  return sandbox
    .run('inspect', { content, parts }, client)
    .catch(error => ({ release: null, issues: [archiveIssue(error)] }))
}

/** Runs `adoptCrate`; refuses an archive that takes too much time or memory to read. */
export async function adoptArchive(content: Content, parts: AdoptParts): Promise<Adoption> {
  return sandbox.run('adopt', { content, parts }).catch(error => {
    throw error instanceof Refusal ? error : new Refusal([archiveIssue(error)])
  })
}

/** Lists the files of a `.crate`; null if that takes too much time or memory. */
export function listFiles(path: string, size: number): Promise<ArchiveFile[] | null> {
  return unlessCostly(sandbox.run('files', { path, unpackedBytes: unpackedLimit(size) }))
}

/** Returns why no Cargo can use a `.crate`; null if one can, or if that is too much to find out. */
export function faultOf(crate: PublishedCrate): Promise<string | null> {
  return unlessCostly(sandbox.run('fault', crate))
}

function unlessCostly<T>(work: Promise<T>): Promise<T | null> {
  return work.catch(error => {
    if (error instanceof SandboxError) return null
    throw error
  })
}

function archiveIssue(error: unknown): Issue {
  if (!(error instanceof SandboxError) || error.reason === 'failure') throw error
  return issue('archive_costly', { because: error.message })
}
