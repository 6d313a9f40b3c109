import * as v from 'valibot'
import type { CrateCard } from '../../../generator/index.ts'

export const text = v.nullable(v.string())
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
export const time = v.pipe(v.string(), v.isoTimestamp())

/** What the manifest says of a crate in every version. */
const ABOUT = ['description', 'homepage', 'documentation', 'repository'] as const

export const aboutEntries = v.entriesFromList(ABOUT, text)

/** The fields of `aboutEntries`. */
export function aboutView(about: CrateCard['about']): Pick<typeof about, (typeof ABOUT)[number]> {
  const { description, homepage, documentation, repository } = about
  return { description, homepage, documentation, repository }
}

const LINKS = [
  'version_downloads',
  'versions',
  'owners',
  'owner_team',
  'owner_user',
  'reverse_dependencies',
] as const

/** A crate in the shape of crates.io. What is not counted here is 0 or empty, never absent. */
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
})

/** A crate as in lists; `more` adds the ids of its versions and its keywords. */
export function crateView(
  card: CrateCard,
  more: { versions?: number[]; taxonomy?: boolean; exact?: boolean } = {},
): v.InferOutput<typeof crateShape> {
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
    trustpub_only: false,
  }
}

const counted = { crates_cnt: count, created_at: time }

/** A keyword, in the shape of crates.io. */
export const keywordShape = v.object({ id: v.string(), keyword: v.string(), ...counted })

/** A category, in the shape of crates.io. */
export const categoryShape = v.object({
  ...v.entriesFromList(['id', 'category', 'slug', 'description'], v.string()),
  ...counted,
})

/** The keywords of a crate; crates per keyword are not counted, so each counts 1. */
export function keywordViews(card: CrateCard): v.InferOutput<typeof keywordShape>[] {
  return card.about.keywords.map(one => {
    const id = one.toLowerCase()
    return { id, keyword: id, crates_cnt: 1, created_at: card.createdAt }
  })
}

/** The categories of a crate, known here by their slugs alone. */
export function categoryViews(card: CrateCard): v.InferOutput<typeof categoryShape>[] {
  const rest = { description: '', crates_cnt: 1, created_at: card.createdAt }
  return card.about.categories.map(slug => ({ id: slug, category: slug, slug, ...rest }))
}
