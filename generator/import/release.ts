import type { Entry } from '../../core/entry/entry.ts'
import { compareDependencies } from '../../core/entry/render.ts'
import { type Issue, Refusal, refuse, refuseErrors, warning } from '../../core/error/error.ts'
import type { About, Manifest } from '../../core/manifest/manifest.ts'
import { parseManifest } from '../../core/manifest/parse.ts'
import type { Name } from '../../core/name.ts'
import { indexUrlKey, toEntryDependency } from '../../core/release/dependency.ts'
import { inspectCrate } from '../../core/release/inspect.ts'
import type { Release } from '../../core/release/release.ts'
import { findReadme, findTargets } from '../../core/release/targets.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { ArchiveFile, ArchiveLimits } from '../../core/tarball/archive.ts'
import { readArchive } from '../../core/tarball/read.ts'
import { recoverArchive, recoverFile } from '../../core/tarball/recover.ts'
import type { Version } from '../../core/version.ts'
import { archiveLimits } from '../add/add.ts'
import type { CrateBytes } from '../store/crate-store.ts'
import { differences } from './differences.ts'
import type { SourceRelease } from './source/source.ts'

/** A release as it will be taken in, with what is worth telling of it. */
export interface Imported {
  readonly release: Release
  readonly notes: readonly Issue[]
}

/** What the reading of a `.crate` found. */
interface Reading {
  readonly manifest: Manifest | null
  readonly files: readonly ArchiveFile[]
  readonly vcsPath: string | null
}

/**
 * Makes a release of an offer whose bytes have arrived and have the right checksum. The index line is the fact: other
 * registries made it by other rules, and lock files rely on it. The packaged manifest gives what people read, and must
 * agree in name and version. An archive that a publish would be refused for is taken, because its users build with it.
 * `own` are the URLs of the source and of this registry.
 */
export async function makeRelease(
  offer: SourceRelease,
  bytes: CrateBytes,
  settings: Settings,
  own: ReadonlySet<string>,
): Promise<Imported> {
  const limits = archiveLimits(settings, bytes.size)
  const { cksum, size } = bytes
  const { identity } = offer
  if (!identity) {
    const loose = { limits, cksum, size, pubtime: null, ownIndexUrls: own }
    const { release, issues } = await inspectCrate(bytes.open, loose)
    refuseErrors(issues)
    if (!release) throw new Error('a crate without a release or an objection')
    return { release, notes: issues }
  }
  const notes: Issue[] = []
  const reading = await read(bytes, identity, limits, notes)
  const { manifest, files, vcsPath } = reading
  const entry = offer.entry ? adopt(offer.entry, own) : derive(manifest, cksum, own)
  if (offer.entry && manifest) notes.push(...differences(entry, manifest, own))
  const path = manifest && findReadme(manifest, files)
  const top = `${identity.name}-${identity.version}`
  const readme = path
    ? await recoverFile(bytes.open, `${top}/${path}`, limits.readmeBytes, limits)
    : null
  const about: About = manifest
    ? { ...manifest.about, readme_file: path, ...findTargets(manifest, files) }
    : NOTHING_KNOWN
  return { release: { ...identity, entry, about, readme, size, files, vcsPath }, notes }
}

async function read(
  bytes: CrateBytes,
  identity: { readonly name: Name; readonly version: Version },
  limits: ArchiveLimits,
  notes: Issue[],
): Promise<Reading> {
  const archive = await orRefusal(() => readArchive(bytes.open, limits, identity))
  if (!(archive instanceof Refusal)) {
    notes.push(...archive.warnings)
    const manifest = readManifest(archive.manifest, identity, notes)
    return { manifest, files: archive.files, vcsPath: archive.vcsPath }
  }
  notes.push(warning('import_archive', { reason: archive.issues[0].message }))
  const { manifest, files } = await recoverArchive(
    bytes.open,
    `${identity.name}-${identity.version}`,
    limits,
  )
  return {
    manifest: manifest === null ? null : readManifest(manifest, identity, notes),
    files,
    vcsPath: null,
  }
}

function readManifest(
  text: string,
  { name, version }: { readonly name: Name; readonly version: Version },
  notes: Issue[],
): Manifest | null {
  try {
    const manifest = parseManifest(text)
    if (manifest.name === name && manifest.version === version) return manifest
    return refuse('import_identity', {
      expected: `${name} ${version}`,
      found: `${manifest.name} ${manifest.version}`,
    })
  } catch (error) {
    if (!(error instanceof Refusal) || error.has('import_identity')) throw error
    notes.push(warning('import_manifest', { reason: error.issues[0].message }))
    return null
  }
}

/** The entry as it was, but for what pointed to the source itself: that means this registry from now on. */
export function adopt(entry: Entry, own: ReadonlySet<string>): Entry {
  const keys = new Set([...own].map(indexUrlKey))
  const deps = entry.deps.map(one =>
    one.registry !== null && keys.has(indexUrlKey(one.registry)) ? { ...one, registry: null } : one,
  )
  return { ...entry, deps }
}

/** The entry that the packaged manifest gives, where no index says it. */
function derive(manifest: Manifest | null, cksum: string, own: ReadonlySet<string>): Entry {
  if (!manifest) return refuse('archive_manifest_missing')
  const keys = new Set([...own].map(indexUrlKey))
  return {
    name: manifest.name,
    vers: manifest.version,
    deps: manifest.dependencies.map(one => toEntryDependency(one, keys)).sort(compareDependencies),
    cksum,
    features: manifest.features,
    yanked: false,
    links: manifest.links,
    rust_version: manifest.rustVersion,
    pubtime: null,
  }
}

async function orRefusal<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error
  }
}

const NOTHING_KNOWN: About = {
  description: null,
  homepage: null,
  documentation: null,
  repository: null,
  license: null,
  license_file: null,
  readme_file: null,
  keywords: [],
  categories: [],
  authors: [],
  edition: null,
  badges: {},
}
