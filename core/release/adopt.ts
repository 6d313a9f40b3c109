import type { Entry } from '../entry/entry.ts'
import { collect, type Issue, refuse, refuseErrors, warning } from '../error/error.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { NOTHING_KNOWN, parseManifest } from '../manifest/parse.ts'
import {
  type Archive,
  type ArchiveLimits,
  type Identity,
  type Open,
  surveyArchive,
} from '../tarball/read.ts'
import { readText, recoverArchive } from '../tarball/recover.ts'
import { compareManifest } from './compare.ts'
import { localized } from './dependency.ts'
import { inspectCrate } from './inspect.ts'
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
 * its users build with it.
 */
export async function adoptCrate(open: Open, parts: AdoptParts): Promise<Adoption> {
  const { identity, limits, cksum, size, own } = parts
  if (!identity) {
    const loose = { limits, cksum, size, pubtime: null, ownIndexUrls: own }
    const { release, issues } = await inspectCrate(open, loose)
    refuseErrors(issues)
    if (!release) throw new Error('a crate without a release or an error')
    return { release, notes: issues }
  }
  const notes: Issue[] = []
  const archive = await readLeniently(open, identity, limits, notes)
  const { files, contents } = archive
  const manifest =
    archive.manifest === null ? null : readManifest(archive.manifest, identity, notes)
  if (!parts.entry && !manifest) refuse('archive_manifest_missing')
  const entry = parts.entry
    ? { ...parts.entry, deps: localized(parts.entry.deps, own) }
    : entryOf(manifest as Manifest, cksum, null, own)
  if (parts.entry && manifest) notes.push(...compareManifest(entry, manifest, own))
  const about = manifest ? aboutOf(manifest, files) : NOTHING_KNOWN
  const path = about.readme_file && `${identity.name}-${identity.version}/${about.readme_file}`
  const readme = path ? await readText(open, path, limits.readmeBytes, limits) : null
  const facts = { about, readme, size, contents, files }
  return { release: { ...identity, entry, ...facts }, notes }
}

async function readLeniently(
  open: Open,
  identity: Identity,
  limits: ArchiveLimits,
  notes: Issue[],
): Promise<Pick<Archive, 'files' | 'contents'> & { readonly manifest: string | null }> {
  const { archive, issues } = await surveyArchive(open, limits, identity)
  const error = issues.find(issue => issue.severity === 'error')
  if (archive && !error) {
    notes.push(...issues)
    return archive
  }
  notes.push(warning('import_archive', { reason: error?.message ?? '' }))
  const top = `${identity.name}-${identity.version}`
  return recoverArchive(open, top, limits)
}

function readManifest(text: string, { name, version }: Identity, notes: Issue[]): Manifest | null {
  const found: Issue[] = []
  const manifest = collect(found, () => parseManifest(text))
  if (!manifest) {
    notes.push(warning('import_manifest', { reason: found[0]?.message ?? '' }))
    return null
  }
  if (manifest.name === name && manifest.version === version) return manifest
  return refuse('import_identity', {
    expected: `${name} ${version}`,
    found: `${manifest.name} ${manifest.version}`,
  })
}
