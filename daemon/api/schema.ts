// daemon/api: The routes of the web API, which app.ts lists. A handler never imports another and
// has no SQL.
import * as v from 'valibot'
import type { Entry } from '../../core/entry/entry.ts'
import { readEntry } from '../../core/entry/parse.ts'
import { isolated } from '../../core/text.ts'
import { trustpubData } from '../../core/trust/job.ts'
import type { DownloadNumbers } from '../../generator/records/downloads/read.ts'
import type { CrateCard } from '../../generator/records/pages/cards.ts'
import type { ReleaseRecord, ReleaseSummary } from '../../generator/records/releases.ts'
import { longPageQuery, pageMeta } from '../http/paging.ts'
import { dependencyShape } from './dependency-schema.ts'

const text = v.nullable(v.string())
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const time = v.pipe(v.string(), v.isoTimestamp())

/** Manifest fields in the shapes of both a crate and a version. */
const ABOUT = ['description', 'homepage', 'documentation', 'repository'] as const

const aboutEntries = v.entriesFromList(ABOUT, text)

function aboutView(about: CrateCard['about']): Pick<typeof about, (typeof ABOUT)[number]> {
  const { description, homepage, documentation, repository } = about
  return { description: description && isolated(description), homepage, documentation, repository }
}

const LINKS = [
  'version_downloads',
  'versions',
  'owners',
  'owner_team',
  'owner_user',
  'reverse_dependencies',
] as const

/** Which versions should not be used any more (`*`: all), why, and what to use instead. */
const deprecationShape = v.nullable(v.object({ requirement: v.string(), reason: text, use: text }))

/** A crate in the shape of crates.io. Values that this registry lacks are 0 or empty. */
export const crateShape = v.object({
  id: v.string(),
  name: v.string(),
  updated_at: time,
  created_at: time,
  versions: v.nullable(v.array(count)),
  keywords: v.nullable(v.array(v.string())),
  categories: v.nullable(v.array(v.string())),
  badges: v.array(v.never()),
  downloads: count,
  recent_downloads: count,
  default_version: v.string(),
  num_versions: count,
  yanked: v.boolean(),
  max_version: v.string(),
  newest_version: v.string(),
  max_stable_version: text,
  ...aboutEntries,
  links: v.object(v.entriesFromList(LINKS, v.string())),
  exact_match: v.boolean(),
  trustpub_only: v.boolean(),
  /** What is said of its newest version. */
  deprecated: deprecationShape,
})

export interface CrateMore {
  readonly versions?: number[]
  readonly taxonomy?: boolean
  readonly exact?: boolean
  readonly downloads?: DownloadNumbers | undefined
}

/** Returns a crate as in lists; `more` adds version ids, keywords, categories and downloads. */
export function crateView(card: CrateCard, more: CrateMore = {}): v.InferOutput<typeof crateShape> {
  const { about, name } = card
  const self = `/api/v1/crates/${name}`
  return {
    id: name,
    name,
    updated_at: card.updatedAt ?? card.createdAt,
    created_at: card.createdAt,
    versions: more.versions ?? null,
    keywords: more.taxonomy ? about.keywords.map(keyword => keyword.toLowerCase()) : null,
    categories: more.taxonomy ? [...about.categories] : null,
    badges: [],
    downloads: more.downloads?.total ?? 0,
    recent_downloads: more.downloads?.recent ?? 0,
    default_version: card.newest,
    num_versions: card.versions,
    yanked: card.yanked,
    max_version: card.highest,
    newest_version: card.latest,
    max_stable_version: card.stable,
    ...aboutView(about),
    links: {
      version_downloads: `${self}/downloads`,
      versions: `${self}/versions`,
      owners: `${self}/owners`,
      owner_team: `${self}/owners`,
      owner_user: `${self}/owners`,
      reverse_dependencies: `${self}/reverse_dependencies`,
    },
    exact_match: more.exact ?? false,
    trustpub_only: card.trustedOnly === 1,
    deprecated: card.deprecation,
  }
}

const counted = { crates_cnt: count, created_at: time }

export const keywordShape = v.object({ id: v.string(), keyword: v.string(), ...counted })

export const categoryShape = v.object({
  ...v.entriesFromList(['id', 'category', 'slug', 'description'], v.string()),
  ...counted,
})

/** Returns the keywords of a crate; crates per keyword are not counted, so `crates_cnt` is 1. */
export function keywordViews(card: CrateCard): v.InferOutput<typeof keywordShape>[] {
  return card.about.keywords.map(keyword => {
    const id = keyword.toLowerCase()
    return { id, keyword: id, crates_cnt: 1, created_at: card.createdAt }
  })
}

/** Returns the categories of a crate; the registry knows only their slugs. */
export function categoryViews(card: CrateCard): v.InferOutput<typeof categoryShape>[] {
  const rest = { description: '', crates_cnt: 1, created_at: card.createdAt }
  return card.about.categories.map(slug => ({ id: slug, category: slug, slug, ...rest }))
}

const lines = { code_lines: count, comment_lines: count }

const contentsEntries = {
  /** Lines of Rust, in the shape of crates.io; blank lines are not counted. */
  linecounts: v.nullable(
    v.object({
      languages: v.record(v.string(), v.object({ ...lines, files: count })),
      total_code_lines: count,
      total_comment_lines: count,
    }),
  ),
  unpacked_size: v.nullable(count),
  num_files: v.nullable(count),
}

function contentsView(contents: ReleaseRecord['contents']) {
  if (contents === null) return { linecounts: null, unpacked_size: null, num_files: null }
  const { files, bytes, rust } = contents
  const linecounts = {
    languages: rust.files === 0 ? {} : { Rust: rust },
    total_code_lines: rust.code_lines,
    total_comment_lines: rust.comment_lines,
  }
  return { linecounts, unpacked_size: bytes, num_files: files }
}

/** A version, in the shape of crates.io, plus size and number of its unpacked files. */
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
  deprecated: deprecationShape,
  lib_links: text,
  license: text,
  links: v.object({ dependencies: v.string(), version_downloads: v.string(), authors: v.string() }),
  crate_size: count,
  published_by: v.nullable(
    v.object({ id: count, login: v.string(), name: text, avatar: text, url: v.string() }),
  ),
  audit_actions: v.array(v.never()),
  /** The job of a CI system that published it. */
  trustpub_data: v.nullable(v.record(v.string(), v.nullable(v.string()))),
  checksum: v.string(),
  rust_version: text,
  has_lib: v.nullable(v.boolean()),
  bin_names: v.nullable(v.array(v.string())),
  edition: text,
  ...contentsEntries,
  ...aboutEntries,
})

type VersionShape = v.InferOutput<typeof versionShape>

/** Returns a version, with features if it has its line; an unknown time is that of its crate. */
export function versionView(
  { owners }: { readonly owners: boolean },
  crate: CrateCard,
  release: ReleaseRecord | ReleaseSummary,
  downloads = 0,
): VersionShape {
  const { about, version } = release
  const { links, rust_version, features } = entryParts(release)
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
    downloads,
    features: features as Record<string, string[]>,
    yanked: release.yanked,
    yank_message: release.yankReason,
    deprecated: release.deprecation,
    lib_links: links,
    license: about.license,
    links: {
      dependencies: `${self}/dependencies`,
      version_downloads: `${self}/downloads`,
      authors: `${self}/authors`,
    },
    crate_size: release.size,
    published_by: owners ? publisherOf(release) : null,
    audit_actions: [],
    trustpub_data: release.job && trustpubData(release.job),
    checksum: release.cksum,
    rust_version,
    has_lib: about.has_lib ?? null,
    bin_names: about.bin_names ? [...about.bin_names] : null,
    edition: about.edition,
    ...contentsView(release.contents),
    ...aboutView(about),
  }
}

function entryParts(
  release: ReleaseRecord | ReleaseSummary,
): Pick<Entry, 'links' | 'rust_version' | 'features'> {
  if (!('links' in release)) return readEntry(release.line)
  return release.line === null ? { ...release, features: {} } : readEntry(release.line)
}

function publisherOf({
  publisherId,
  publishedBy,
}: Pick<ReleaseRecord, 'publisherId' | 'publishedBy'>): VersionShape['published_by'] {
  if (publisherId === null || publishedBy === null) return null
  return { id: publisherId, login: publishedBy, name: null, avatar: null, url: '' }
}

/** `include`: the parts to return, comma-separated; default: all of them. */
export const crateQuery = v.object({ include: v.optional(v.string()) })

export const crateAnswer = v.object({
  crate: crateShape,
  versions: v.nullable(v.array(versionShape)),
  keywords: v.nullable(v.array(keywordShape)),
  categories: v.nullable(v.array(categoryShape)),
})

const crates = v.array(crateShape)

export const summaryAnswer = v.object({
  num_crates: count,
  num_downloads: count,
  new_crates: crates,
  just_updated: crates,
  most_downloaded: crates,
  most_recently_downloaded: crates,
  popular_keywords: v.array(keywordShape),
  popular_categories: v.array(categoryShape),
})

export const reverseQuery = v.object(longPageQuery)

export const reverseAnswer = v.object({
  dependencies: v.array(dependencyShape),
  versions: v.array(versionShape),
  meta: pageMeta,
})

/** `sort=date` puts the latest publish first. */
export const versionsQuery = v.object({ sort: v.optional(v.string(), 'semver'), ...longPageQuery })

export const versionsAnswer = v.object({ versions: v.array(versionShape), meta: pageMeta })

export const versionAnswer = v.object({ version: versionShape })

export const dependenciesAnswer = v.object({ dependencies: v.array(dependencyShape) })

export const authorsAnswer = v.object({
  users: v.array(v.never()),
  meta: v.object({ names: v.array(v.string()) }),
})
