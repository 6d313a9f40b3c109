import * as v from 'valibot'
import type { CrateCard } from '../../../generator/index.ts'

const text = v.nullable(v.string())
const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** A crate in the shape of crates.io. What is not counted here is 0 or empty, never absent. */
export const crateShape = v.object({
  id: v.string(),
  name: v.string(),
  updated_at: v.pipe(v.string(), v.isoTimestamp()),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
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
  description: text,
  homepage: text,
  documentation: text,
  repository: text,
  links: v.object({
    version_downloads: v.string(),
    versions: v.string(),
    owners: v.string(),
    owner_team: v.string(),
    owner_user: v.string(),
    reverse_dependencies: v.string(),
  }),
  exact_match: v.boolean(),
  trustpub_only: v.boolean(),
})

export type CrateShape = v.InferOutput<typeof crateShape>

/** A crate as in lists; `more` adds the ids of its versions and its keywords. */
export function crateView(
  card: CrateCard,
  more: { versions?: number[]; taxonomy?: boolean; exact?: boolean } = {},
): CrateShape {
  const { about, name } = card
  const self = `/api/v1/crates/${name}`
  return {
    id: name,
    name,
    updated_at: card.updatedAt,
    created_at: card.createdAt,
    versions: more.versions ?? null,
    keywords: more.taxonomy ? about.keywords.map(one => one.toLowerCase()) : null,
    categories: more.taxonomy ? [...about.categories] : null,
    badges: [],
    downloads: 0,
    recent_downloads: 0,
    default_version: card.newest,
    num_versions: card.versions,
    yanked: card.yanked,
    max_version: card.newest,
    newest_version: card.latest,
    max_stable_version: card.stable,
    description: about.description,
    homepage: about.homepage,
    documentation: about.documentation,
    repository: about.repository,
    links: {
      version_downloads: `${self}/downloads`,
      versions: `${self}/versions`,
      owners: `${self}/owners`,
      owner_team: `${self}/owners`,
      owner_user: `${self}/owners`,
      reverse_dependencies: `${self}/reverse_dependencies`,
    },
    exact_match: more.exact ?? false,
    trustpub_only: false,
  }
}

/** A keyword, in the shape of crates.io. */
export const keywordShape = v.object({
  id: v.string(),
  keyword: v.string(),
  crates_cnt: count,
  created_at: v.pipe(v.string(), v.isoTimestamp()),
})

/** A category, in the shape of crates.io. */
export const categoryShape = v.object({
  id: v.string(),
  category: v.string(),
  slug: v.string(),
  description: v.string(),
  crates_cnt: count,
  created_at: v.pipe(v.string(), v.isoTimestamp()),
})

/** The keywords of a crate; crates per keyword are not counted, so each counts 1. */
export function keywordViews({
  about,
  createdAt,
}: CrateCard): v.InferOutput<typeof keywordShape>[] {
  return about.keywords.map(one => {
    const id = one.toLowerCase()
    return { id, keyword: id, crates_cnt: 1, created_at: createdAt }
  })
}

/** The categories of a crate, known here by their slugs alone. */
export function categoryViews({
  about,
  createdAt,
}: CrateCard): v.InferOutput<typeof categoryShape>[] {
  return about.categories.map(slug => {
    return { id: slug, category: slug, slug, description: '', crates_cnt: 1, created_at: createdAt }
  })
}
