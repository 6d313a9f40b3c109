import type { Change } from './catalog/record.ts'
import type { Staged } from './crate-store.ts'
import { collect, type Issue, issue, refuseErrors, warning } from './error.ts'
import { parseManifest } from './manifest.ts'
import { type CanonicalName, canonicalName, isName, type Name } from './name.ts'
import { crateKey } from './paths.ts'
import { checkPolicy, type PolicyFacts } from './policy.ts'
import type { Registry } from './registry.ts'
import { compareMetadata, makeRelease, type PublishMetadata, type Release } from './release.ts'
import type { Settings } from './settings.ts'
import { type Archive, readArchive, readArchiveFile } from './tarball.ts'
import { CRATES_IO_INDEX, type RegistryUrls } from './urls.ts'
import type { Version } from './version.ts'

/** What came with the bytes of a release. */
export interface Submission {
  readonly staged: Staged
  /** What the client said of it, when it came through the web API; must agree with what the `.crate` says. */
  readonly metadata?: { readonly name: Name; readonly version: Version; readonly said: PublishMetadata }
  /** Time of publication for the index, null when unknown. */
  readonly pubtime: string | null
}

/** A release that was taken in, with everything worth telling its publisher. */
export interface Acceptance {
  readonly release: Release
  readonly outcome: 'added' | 'present'
  readonly crateId: number
  readonly warnings: readonly Issue[]
  readonly invalidCategories: readonly string[]
  readonly invalidBadges: readonly string[]
}

/**
 * Takes a release into the truth, in the order that a crash cannot hurt: inspect, check, store the bytes, one
 * transaction. The public tree follows by a build. Throws a `Refusal` with every objection at once, and then leaves
 * nothing behind; the staged bytes are the caller's to discard.
 */
export async function addSubmission(registry: Registry, submission: Submission, change: Change): Promise<Acceptance> {
  const { staged, metadata } = submission
  const issues: Issue[] = []
  if (metadata) issues.push(...(await registry.catalog.objections({ ...metadata, cksum: staged.cksum }, change)))
  const release = await inspect(submission, registry.settings, registry.urls, issues)
  if (!release) {
    refuseErrors(issues)
    throw new Error('a release without objections')
  }
  const publication = { name: release.name, version: release.version, cksum: staged.cksum }
  if (!metadata) issues.push(...(await registry.catalog.objections(publication, change)))
  const verdict = checkPolicy(release, await policyFacts(registry, release), registry.settings.policy)
  issues.push(...verdict.issues)
  refuseErrors(unique(issues))
  await staged.keep(crateKey(release.name, staged.cksum))
  const { outcome, crateId } = await registry.catalog.add(release, change)
  if (outcome === 'present') issues.push(warning('release_present', { name: release.name, version: release.version }))
  const { invalidCategories, invalidBadges } = verdict
  return { release, outcome, crateId, warnings: unique(issues), invalidCategories, invalidBadges }
}

/** Reads the release out of a `.crate`; undefined, with the objections added to `issues`, when that is not possible. */
export async function inspect(
  submission: Submission,
  settings: Pick<Settings, 'limits'>,
  urls: RegistryUrls,
  issues: Issue[],
): Promise<Release | undefined> {
  const { staged, metadata } = submission
  const limits = settings.limits
  const archive = await collectLater(issues, () =>
    readArchive(
      staged.open,
      {
        unpackedBytes: Math.max(limits.unpacked_bytes, 20 * staged.size),
        entries: limits.archive_entries,
        manifestBytes: limits.manifest_bytes,
        readmeBytes: limits.readme_bytes,
      },
      metadata,
    ),
  )
  if (!archive) return undefined
  const manifest = collect(issues, () => parseManifest(archive.manifest))
  if (!manifest) return undefined
  const readme = await readReadme(staged, archive, manifest.readmePath, limits.readme_bytes)
  const release = collect(issues, () =>
    makeRelease({
      archive,
      manifest,
      readme,
      cksum: staged.cksum,
      size: staged.size,
      pubtime: submission.pubtime,
      ownIndexUrls: urls.own,
    }),
  )
  if (release && metadata) issues.push(...compareMetadata(release, metadata.said))
  return release
}
