import * as v from 'valibot'
import { type CrateCard, parseEntry, type ReleaseRecord } from '../../../generator/index.ts'
import { aboutEntries, aboutView, count, text, time } from './crate.ts'

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
  published_by: v.nullable(
    v.object({ id: count, login: v.string(), name: text, avatar: text, url: v.string() }),
  ),
  audit_actions: v.array(v.never()),
  checksum: v.string(),
  rust_version: text,
  has_lib: v.nullable(v.boolean()),
  bin_names: v.nullable(v.array(v.string())),
  edition: text,
  ...aboutEntries,
})

type VersionShape = v.InferOutput<typeof versionShape>

/** A version; without a time of publication it gets the time when its crate was added. */
export function versionView(crate: CrateCard, release: ReleaseRecord): VersionShape {
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
    features: entry.features as Record<string, string[]>,
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
    ...aboutView(about),
  }
}

function publisherOf({ publisherId, publishedBy }: ReleaseRecord): VersionShape['published_by'] {
  if (publisherId === null || publishedBy === null) return null
  return { id: publisherId, login: publishedBy, name: null, avatar: null, url: '' }
}

/** A dependency in the shape of crates.io, plus its registry and its rename. */
export const dependencyShape = v.object({
  id: count,
  version_id: count,
  crate_id: v.string(),
  req: v.string(),
  optional: v.boolean(),
  default_features: v.boolean(),
  features: v.array(v.string()),
  target: text,
  kind: v.picklist(['normal', 'build', 'dev']),
  downloads: count,
  /** Index URL of the registry it comes from; null for this one. */
  registry: text,
  /** The name it goes by in the crate, when that is another. */
  explicit_name_in_toml: text,
})

export type DependencyShape = v.InferOutput<typeof dependencyShape>

/** Room for the ids of one version's dependencies; entries never change, so ids are stable. */
const IDS_PER_VERSION = 65_536

/** The dependencies of a version, in the order of its index line. */
export function dependencyViews({ id, line }: ReleaseRecord): DependencyShape[] {
  return parseEntry(line).deps.map((one, at) => ({
    id: id * IDS_PER_VERSION + at,
    version_id: id,
    crate_id: one.package ?? one.name,
    req: one.req,
    optional: one.optional,
    default_features: one.default_features,
    features: [...one.features],
    target: one.target,
    kind: one.kind,
    downloads: 0,
    registry: one.registry,
    explicit_name_in_toml: one.package === null ? null : one.name,
  }))
}
