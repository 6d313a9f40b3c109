import type { Entry } from '../entry/entry.ts'
import { checkFeatures } from '../entry/features.ts'
import { type Issue, refuse, refuseErrors, warning } from '../error/error.ts'
import { NOTHING_KNOWN } from '../manifest/parse.ts'
import { type ArchiveLimits, type Identity, type Open, surveyArchive } from '../tarball/read.ts'
import { readText } from '../tarball/recover.ts'
import { compareManifest } from './compare.ts'
import { localized } from './dependency.ts'
import { readLocked } from './locked.ts'
import { readManifest, readPublished } from './published.ts'
import { aboutOf, entryOf, type Release } from './release.ts'

/** A release of another registry. Its bytes were fetched, and their checksum is correct. */
export interface AdoptParts {
  /** Null for a `.crate` without an index. */
  readonly identity: Identity | null
  readonly entry: Entry | null
  readonly cksum: string
  readonly size: number
  readonly limits: ArchiveLimits
  readonly own: ReadonlySet<string>
}

export interface Adoption {
  readonly release: Release
  readonly warnings: readonly Issue[]
}

/**
 * Converts a release of another registry. Its index line is authoritative: other registries wrote
 * it by other rules, and lock files rely on it. Descriptive fields come from the packaged manifest,
 * whose name and version must agree. An archive that a publish would refuse is accepted, because
 * its users build with it; one that no Cargo can use is refused.
 */
export async function adoptCrate(open: Open, parts: AdoptParts): Promise<Adoption> {
  const { limits, cksum, size, own } = parts
  const survey = await surveyArchive(open, limits, parts.identity ?? undefined)
  const error = survey.issues.find(issue => issue.severity === 'error')
  const archive = error ? null : survey.archive
  const warnings = archive
    ? survey.issues
    : [warning('import_archive', { reason: error?.message ?? '' })]
  const { identity, parsed, files, contents } = archive
    ? { ...archive, identity: archive, parsed: readManifest(archive.manifest, archive, warnings) }
    : await readPublished(open, parts.identity, size, limits, warnings)
  const entry = parts.entry
    ? { ...parts.entry, deps: localized(parts.entry.deps, own) }
    : entryOf(parsed ?? refuse('archive_manifest_missing'), cksum, null, own)
  refuseErrors(checkFeatures(entry, 'published'))
  if (parts.entry && parsed) warnings.push(...compareManifest(entry, parsed, own))
  const about = parsed ? aboutOf(parsed, files) : NOTHING_KNOWN
  const path = about.readme_file
  const readme = path ? await readText(open, path, limits.readmeBytes, limits, 'last') : null
  const lock = parsed && { manifest: parsed, files, limits, own, which: 'last' as const }
  const locked = lock ? await readLocked(open, lock, warnings) : []
  const details = { about, readme, size, contents, files, locked }
  return {
    release: { name: identity.name, version: identity.version, entry, ...details },
    warnings,
  }
}
