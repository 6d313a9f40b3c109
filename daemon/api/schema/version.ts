import * as v from 'valibot'
import { type Entry, parseEntry, type ReleaseRecord } from '../../../generator/index.ts'

const text = v.nullable(v.string())
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const time = v.pipe(v.string(), v.isoTimestamp())

/** Who published a version, in the shape of crates.io. */
const publisherShape = v.object({
  id: count,
  login: v.string(),
  name: text,
  avatar: text,
  url: v.string(),
})

/** A version, in the shape of crates.io. */
export const versionShape = v.object({
  id: count,
  crate: v.string(),
  num: v.string(),
  dl_path: v.string(),
  readme_path: v.string(),
  created_at: time,
  updated_at: time,
  downloads: count,
  features: v.record(v.string(), v.array(v.string())),
  yanked: v.boolean(),
  yank_message: text,
  lib_links: text,
  license: text,
  links: v.object({ dependencies: v.string(), version_downloads: v.string(), authors: v.string() }),
  crate_size: count,
  published_by: v.nullable(publisherShape),
  audit_actions: v.array(v.never()),
  checksum: v.string(),
  rust_version: text,
  has_lib: v.nullable(v.boolean()),
  bin_names: v.nullable(v.array(v.string())),
  edition: text,
  description: text,
  homepage: text,
  documentation: text,
  repository: text,
})

export type VersionShape = v.InferOutput<typeof versionShape>

/** What a version's crate has to say for it. */
export interface OfCrate {
  readonly name: string
  readonly createdAt: string
}

/** A version; without a time of publication it gets the time when its crate was added. */
export function versionView(crate: OfCrate, release: ReleaseRecord): VersionShape {
  const { about, version } = release
  const entry = parseEntry(release.line)
  const self = `/api/v1/crates/${crate.name}/${version}`
  const at = release.publishedAt ?? crate.createdAt
  return {
    id: release.id,
    crate: crate.name,
    num: version,
    dl_path: `${self}/download`,
    readme_path: `${self}/readme`,
    created_at: at,
    updated_at: at,
    downloads: 0,
    features: featuresOf(entry),
    yanked: release.yanked,
    yank_message: null,
    lib_links: entry.links,
    license: about.license,
    links: {
      dependencies: `${self}/dependencies`,
      version_downloads: `${self}/downloads`,
      authors: `${self}/authors`,
    },
    crate_size: release.size,
    published_by: publisherOf(release),
    audit_actions: [],
    checksum: release.cksum,
    rust_version: entry.rust_version,
    has_lib: about.has_lib ?? null,
    bin_names: about.bin_names ? [...about.bin_names] : null,
    edition: about.edition,
    description: about.description,
    homepage: about.homepage,
    documentation: about.documentation,
    repository: about.repository,
  }
}

function featuresOf(entry: Entry): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(entry.features).map(([name, values]) => [name, [...values]]),
  )
}

function publisherOf({ publisherId, publishedBy }: ReleaseRecord): VersionShape['published_by'] {
  if (publisherId === null || publishedBy === null) return null
  return { id: publisherId, login: publishedBy, name: null, avatar: null, url: '' }
}
