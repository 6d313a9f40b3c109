import type { Entry } from '../entry/entry.ts'
import { compareDependencies } from '../entry/render.ts'
import { type Issue, Refusal, refuse, refuseErrors, warning } from '../error/error.ts'
import type { About, Manifest } from '../manifest/manifest.ts'
import { parseManifest } from '../manifest/parse.ts'
import type { Name } from '../name.ts'
import { type ArchiveFile, type ArchiveLimits, readArchive } from '../tarball/read.ts'
import { readText, recoverArchive } from '../tarball/recover.ts'
import type { Version } from '../version.ts'
import { indexUrlKey, toEntryDependency } from './dependency.ts'
import { differences } from './differences.ts'
import { inspectCrate } from './inspect.ts'
import type { Release } from './release.ts'
import { findReadme, findTargets } from './targets.ts'

/** What another registry says of a release whose bytes have arrived and have the right checksum. */
export interface AdoptParts {
  /** Null for a `.crate` that only itself describes. */
  readonly identity: { readonly name: Name; readonly version: Version } | null
  /** Its index line; null where there is none. */
  readonly entry: Entry | null
  readonly cksum: string
  readonly size: number
  readonly limits: ArchiveLimits
  /** The index URLs of the other registry and of this one. */
  readonly own: ReadonlySet<string>
}

/** A release of another registry as this one takes it, with what is worth telling of it. */
export interface Adoption {
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
 * Makes a release of another registry's. The index line is the fact: other registries made it by
 * other rules, and lock files rely on it. The packaged manifest gives what people read, and must
 * agree in name and version. An archive that a publish would be refused for is taken, because its
 * users build with it.
 */
export async function adoptCrate(
  open: () => AsyncIterable<Uint8Array>,
  parts: AdoptParts,
): Promise<Adoption> {
  const { identity, limits, cksum, size, own } = parts
  if (!identity) {
    const loose = { limits, cksum, size, pubtime: null, ownIndexUrls: own }
    const { release, issues } = await inspectCrate(open, loose)
    refuseErrors(issues)
    if (!release) throw new Error('a crate without a release or an objection')
    return { release, notes: issues }
  }
  const notes: Issue[] = []
  const { manifest, files, vcsPath } = await read(open, identity, limits, notes)
  const entry = parts.entry ? adoptEntry(parts.entry, own) : derive(manifest, cksum, own)
  if (parts.entry && manifest) notes.push(...differences(entry, manifest, own))
  const path = manifest && findReadme(manifest, files)
  const top = `${identity.name}-${identity.version}`
  const readme = path ? await readText(open, `${top}/${path}`, limits.readmeBytes, limits) : null
  const about: About = manifest
    ? { ...manifest.about, readme_file: path, ...findTargets(manifest, files) }
    : NOTHING_KNOWN
  return { release: { ...identity, entry, about, readme, size, files, vcsPath }, notes }
}

async function read(
  open: () => AsyncIterable<Uint8Array>,
  identity: { readonly name: Name; readonly version: Version },
  limits: ArchiveLimits,
  notes: Issue[],
): Promise<Reading> {
  const archive = await orRefusal(() => readArchive(open, limits, identity))
  if (!(archive instanceof Refusal)) {
    notes.push(...archive.warnings)
    const manifest = readManifest(archive.manifest, identity, notes)
    return { manifest, files: archive.files, vcsPath: archive.vcsPath }
  }
  notes.push(warning('import_archive', { reason: archive.issues[0].message }))
  const { manifest, files } = await recoverArchive(
    open,
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

/**
 * The entry as it was, but for what pointed to the source itself: that means this registry from now
 * on.
 */
function adoptEntry(entry: Entry, own: ReadonlySet<string>): Entry {
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
