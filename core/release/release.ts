import type { Entry } from '../entry/entry.ts'
import { compareText } from '../entry/entry.ts'
import { isPubtime } from '../entry/pubtime.ts'
import { compareDependencies } from '../entry/render.ts'
import { issue, refuseErrors } from '../error/error.ts'
import type { About, Manifest } from '../manifest/manifest.ts'
import type { Name } from '../name.ts'
import type { Archive, ArchiveFile } from '../tarball/archive.ts'
import type { Version } from '../version.ts'
import { indexUrlKey, metadataPlace, placeKey, toEntryDependency } from './dependency.ts'
import { checkFeatures } from './features.ts'
import type { PublishMetadata } from './metadata.ts'
import { findReadme, findTargets } from './targets.ts'

/** What publish, `add` and import all produce: one version, whole but for its bytes. */
export interface Release {
  readonly name: Name
  readonly version: Version
  readonly entry: Entry
  readonly about: About
  readonly readme: string | null
  /** Length of the `.crate` file. */
  readonly size: number
  readonly files: readonly ArchiveFile[]
  readonly vcsPath: string | null
}

export interface ReleaseParts {
  readonly archive: Archive
  readonly manifest: Manifest
  readonly readme: string | null
  readonly cksum: string
  readonly size: number
  readonly pubtime: string | null
  /** Every URL under which this registry's index is known. */
  readonly ownIndexUrls: ReadonlySet<string>
  /** What the publisher's Cargo sent; it knows aliases of this registry that the settings do not. */
  readonly metadata?: PublishMetadata | undefined
}

/**
 * Makes the release out of what its `.crate` holds: the packaged manifest is the fact. Throws a `Refusal` when the
 * manifest is another crate's or version's than the archive's folder, or its features could not be used.
 */
export function makeRelease(parts: ReleaseParts): Release {
  const { archive, manifest, readme, cksum, size, pubtime } = parts
  if (pubtime !== null && !isPubtime(pubtime)) throw new TypeError(`not a pubtime: ${pubtime}`)
  const own = ownUrls(parts)
  const deps = manifest.dependencies
    .map(one => toEntryDependency(one, own))
    .sort(compareDependencies)
  const issues = checkFeatures(manifest.features, deps)
  const expected = `${archive.name} ${archive.version}`
  const found = `${manifest.name} ${manifest.version}`
  if (expected !== found) issues.unshift(issue('release_identity', { expected, found }))
  refuseErrors(issues)
  const entry: Entry = {
    name: manifest.name,
    vers: manifest.version,
    deps,
    cksum,
    features: sortFeatures(manifest),
    yanked: false,
    links: manifest.links,
    rust_version: manifest.rustVersion,
    pubtime,
  }
  const about = {
    ...manifest.about,
    readme_file: findReadme(manifest, archive.files),
    ...findTargets(manifest, archive.files),
    ...(archive.vcsPath && { vcs_path: archive.vcsPath }),
  }
  const { files, vcsPath } = archive
  return {
    name: manifest.name,
    version: manifest.version,
    entry,
    about,
    readme,
    size,
    files,
    vcsPath,
  }
}

/**
 * The URLs that mean this registry: those of the settings, and those in the manifest for which the publisher's Cargo says
 * "the registry I publish to" (an alias such as `localhost` for `127.0.0.1`).
 */
function ownUrls({ manifest, ownIndexUrls, metadata }: ReleaseParts): ReadonlySet<string> {
  const urls = new Set([...ownIndexUrls].map(indexUrlKey))
  const here = new Set(
    metadata?.deps.filter(one => one.registry === null).map(one => placeKey(metadataPlace(one))),
  )
  for (const one of manifest.dependencies) {
    if (one.registryIndex !== null && here.has(placeKey(one)))
      urls.add(indexUrlKey(one.registryIndex))
  }
  return urls
}

function sortFeatures(manifest: Manifest): Entry['features'] {
  return Object.fromEntries(Object.entries(manifest.features).sort(([a], [b]) => compareText(a, b)))
}
