import type { Entry } from '../entry/entry.ts'
import { checkFeatures } from '../entry/features.ts'
import { type Issue, refuse, refuseErrors, warning } from '../error/error.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { NOTHING_KNOWN } from '../manifest/parse.ts'
import {
  type Archive,
  type ArchiveLimits,
  type Identity,
  type Open,
  surveyArchive,
} from '../tarball/read.ts'
import { readText } from '../tarball/recover.ts'
import { compareManifest } from './compare.ts'
import { localized } from './dependency.ts'
import { type Published, readManifest, readPublished, topOf } from './published.ts'
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
  readonly notes: readonly Issue[]
}

/**
 * Converts a release of another registry. Its index line is authoritative: other registries wrote
 * it by other rules, and lock files rely on it. Descriptive fields come from the packaged manifest,
 * whose name and version must agree. An archive that a publish would refuse is accepted, because
 * its users build with it; one that no Cargo can use is refused.
 */
export async function adoptCrate(open: Open, parts: AdoptParts): Promise<Adoption> {
  const { limits, cksum, size, own } = parts
  const notes: Issue[] = []
  const { identity, manifest, files, contents } = await readLeniently(open, parts, notes)
  if (!parts.entry && !manifest) refuse('archive_manifest_missing')
  const entry = parts.entry
    ? { ...parts.entry, deps: localized(parts.entry.deps, own) }
    : entryOf(manifest as Manifest, cksum, null, own)
  refuseErrors(checkFeatures(entry, 'published'))
  if (parts.entry && manifest) notes.push(...compareManifest(entry, manifest, own))
  const about = manifest ? aboutOf(manifest, files) : NOTHING_KNOWN
  const path = about.readme_file && `${topOf(identity)}/${about.readme_file}`
  const readme = path ? await readText(open, path, limits.readmeBytes, limits, 'last') : null
  const facts = { about, readme, size, contents, files }
  return { release: { name: identity.name, version: identity.version, entry, ...facts }, notes }
}

async function readLeniently(
  open: Open,
  { identity, limits, size }: AdoptParts,
  notes: Issue[],
): Promise<
  Pick<Archive, 'files' | 'contents'> & Pick<Published, 'identity'> & { manifest: Manifest | null }
> {
  const { archive, issues } = await surveyArchive(open, limits, identity ?? undefined)
  const error = issues.find(issue => issue.severity === 'error')
  if (archive && !error) {
    notes.push(...issues)
    return {
      ...archive,
      identity: archive,
      manifest: readManifest(archive.manifest, archive, notes),
    }
  }
  notes.push(warning('import_archive', { reason: error?.message ?? '' }))
  const { parsed, ...published } = await readPublished(open, identity, size, limits, notes)
  return { ...published, manifest: parsed }
}
