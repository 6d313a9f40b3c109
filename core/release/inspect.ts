import { checkFeatures } from '../entry/features.ts'
import { collect, type Issue, issue, warning } from '../error/error.ts'
import { parseManifest } from '../manifest/parse.ts'
import { type ArchiveLimits, type Identity, type Open, surveyArchive } from '../tarball/read.ts'
import { readText } from '../tarball/recover.ts'
import { compareMetadata } from './compare.ts'
import { readLocked } from './locked.ts'
import { findReadme, makeRelease, ownUrls, type Release, type ReleaseParts } from './release.ts'

export interface InspectParts
  extends Pick<ReleaseParts, 'cksum' | 'size' | 'pubtime' | 'ownIndexUrls' | 'metadata'> {
  readonly limits: ArchiveLimits
  /** The release that the request names; by default, the top folder decides. */
  readonly expected?: Identity | undefined
}

export interface Inspection {
  /** Null when the manifest cannot be read; incomplete when there are errors. */
  readonly release: Release | null
  readonly issues: readonly Issue[]
}

/**
 * Turns bytes into a release: reads archive, manifest and README, creates the entry, and compares
 * it with the publish metadata, if any. Continues after errors as far as possible, so that the
 * publisher gets all of them at once. Reads the stream once, and once more up to the README.
 */
export async function inspectCrate(open: Open, parts: InspectParts): Promise<Inspection> {
  const { archive, issues } = await surveyArchive(open, parts.limits, parts.expected)
  const manifest = archive && collect(issues, () => parseManifest(archive.manifest))
  if (!archive || !manifest) return { release: null, issues }
  const expected = `${archive.name} ${archive.version}`
  const identity = `${manifest.name} ${manifest.version}`
  const isOther = expected !== identity
  if (isOther) issues.push(issue('release_identity', { expected, found: identity }))
  const isWhole = !issues.some(problem => problem.severity === 'error')
  const path = findReadme(manifest, archive.files)
  const max = parts.limits.readmeBytes
  const isLarge = archive.files.some(file => file.path === path && file.size > max)
  if (isWhole && path !== null && isLarge) issues.push(warning('readme_too_large', { path, max }))
  if (isWhole && path === null && manifest.readmePath !== null)
    issues.push(warning('readme_missing', { path: manifest.readmePath }))
  // In edition 2015 Cargo also looks in other places.
  const { edition } = manifest.about
  const isImplied = manifest.targets.lib?.path === null && edition !== null && edition !== '2015'
  if (isWhole && isImplied && !archive.files.some(file => file.path === 'src/lib.rs'))
    issues.push(issue('library_missing'))
  const readme =
    isWhole && path !== null && !isLarge ? await readText(open, path, max, parts.limits) : null
  const { files } = archive
  const own = ownUrls({ ...parts, manifest })
  const lock = { manifest, files, limits: parts.limits, own, which: 'only' } as const
  const locked = isWhole ? await readLocked(open, lock, issues) : []
  const release = makeRelease({ ...parts, archive, manifest, readme, locked })
  // Metadata of another release would differ in every field.
  const differences =
    parts.metadata && !isOther ? compareMetadata(release, parts.metadata, parts.ownIndexUrls) : []
  return { release, issues: [...issues, ...checkFeatures(release.entry), ...differences] }
}
