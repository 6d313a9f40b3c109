import { type Issue, Refusal, warning } from '../error/error.ts'
import { parseManifest } from '../manifest/parse.ts'
import type { Name } from '../name.ts'
import type { Archive, ArchiveLimits } from '../tarball/archive.ts'
import { readArchive, readArchiveFile } from '../tarball/read.ts'
import type { Version } from '../version.ts'
import { compareMetadata } from './compare.ts'
import { makeRelease, type Release, type ReleaseParts } from './release.ts'
import { findReadme } from './targets.ts'

/** What `inspectCrate` must be told: whatever is not inside the crate. */
export interface InspectParts
  extends Pick<ReleaseParts, 'cksum' | 'size' | 'pubtime' | 'ownIndexUrls' | 'metadata'> {
  readonly limits: ArchiveLimits
  /** The release that it was sent as; without it, the top folder says what it is. */
  readonly expected?: { readonly name: Name; readonly version: Version } | undefined
}

/** A release, and what there is to say about it. */
export interface Inspection {
  readonly release: Release
  readonly warnings: readonly Issue[]
  /** Where the publish metadata says otherwise: errors, for the caller to tell together with its own. */
  readonly differences: readonly Issue[]
}

/**
 * From bytes to release: archive, manifest, README, entry, and the comparison with the publish metadata where there is
 * one. Reads the stream once, and once more up to the README. Throws a `Refusal` with all objections of the first step
 * that cannot go on for them. A README that is missing or too large is only a warning.
 */
export async function inspectCrate(
  open: () => AsyncIterable<Uint8Array>,
  parts: InspectParts,
): Promise<Inspection> {
  const archive = await readArchive(open, parts.limits, parts.expected)
  const manifest = parseManifest(archive.manifest)
  const warnings = [...archive.warnings]
  const path = findReadme(manifest, archive.files)
  if (path === null && manifest.readmePath !== null) {
    warnings.push(warning('readme_missing', { path: manifest.readmePath }))
  }
  const readme =
    path === null ? null : await readReadme(open, archive, path, parts.limits.readmeBytes, warnings)
  const release = makeRelease({ ...parts, archive, manifest, readme })
  const differences = parts.metadata
    ? compareMetadata(release, parts.metadata, parts.ownIndexUrls)
    : []
  return { release, warnings: warnings, differences }
}

async function readReadme(
  open: () => AsyncIterable<Uint8Array>,
  archive: Archive,
  path: string,
  max: number,
  warnings: Issue[],
): Promise<string | null> {
  try {
    const bytes = await readArchiveFile(open, archive, path, max)
    return bytes && new TextDecoder().decode(bytes)
  } catch (error) {
    if (!(error instanceof Refusal) || !error.has('archive_file_too_large')) throw error
    warnings.push(warning('readme_too_large', { path, max }))
    return null
  }
}
