import {
  assets,
  frontPage,
  listPages,
  noJekyll,
  notFoundPage,
  openSearch,
  robots,
  type SourceFile,
  searchFiles,
  sitemapIndex,
  sitemapPages,
  sitemapPart,
  sitemaps,
  sourcePages,
  staticSearchPage,
} from '../../site/index.ts'
import type { Name } from '../name.ts'
import type { Output } from '../paths.ts'
import type { Version } from '../version.ts'
import { type ListedCrate, listed } from './crate-pages.ts'
import type { Look } from './look.ts'
import { output } from './output.ts'

export type { SourceFile } from '../../site/index.ts'
export { FILE_MAX, LIST_MAX } from '../../site/index.ts'

/** What the front page tells of a registry. */
export interface FrontPart {
  readonly crates: number
  readonly versions: number
  readonly newest: readonly ListedCrate[]
  readonly updated: readonly ListedCrate[]
  /** The first crates by name, where no times are known. */
  readonly first?: readonly ListedCrate[]
}

/** Most bytes of one `.crate` that get pages; what comes after them is only listed. */
export const SOURCE_BYTES_MAX = 16 * 1024 ** 2

/** Crates in each of the two lists of the front page. */
export const FRONT_LENGTH = 12

/** The front page, and the files that are the same whatever the registry holds. */
export function renderSite(look: Look, front: FrontPart): Output[] {
  const { site } = look
  const facts = {
    ...front,
    newest: front.newest.map(listed),
    updated: front.updated.map(listed),
    first: (front.first ?? []).map(listed),
  }
  const files = [...assets, frontPage(site, facts), notFoundPage(site), robots(site), noJekyll]
  return [...files, ...(site.search ? [openSearch(site), staticSearchPage(site)] : [])].map(output)
}

/** One part of the site map: the crates with the ids of that part. */
export function renderSitemap(
  { site }: Look,
  part: number,
  crates: readonly { readonly name: Name; readonly updatedAt: string | null }[],
): Output {
  return output(
    sitemapPart(
      site,
      part,
      crates.map(one => ({ name: one.name, updated: one.updatedAt })),
    ),
  )
}

/** The site map, of which `parts` have crates; nothing of a registry that is nobody else's business. */
export function renderSitemapIndex({ site }: Look, parts: readonly number[]): Output[] {
  return site.private ? [] : [sitemapPages(site), sitemapIndex(site, parts)].map(output)
}

/** Everything that names all crates, rendered at one go: list, search, site maps. */
export function* renderListing(
  { site }: Look,
  crates: readonly ListedCrate[],
  keywordsOf: (name: Name) => readonly string[],
): Generator<Output> {
  const cards = crates.map(listed)
  for (const file of listPages(site, cards)) yield output(file)
  const entries = crates.map(one => ({
    name: one.name,
    version: one.newest,
    description: one.description,
    keywords: keywordsOf(one.name),
    yanked: one.yanked,
  }))
  for (const file of searchFiles(entries)) yield output(file)
  if (!site.private) for (const file of sitemaps(site, cards)) yield output(file)
}

/** The source browser of a version: its tree, and a page for each file that is text. */
export function* renderSource(
  look: Look,
  release: { readonly name: Name; readonly version: Version },
  files: readonly SourceFile[],
): Generator<Output> {
  for (const file of sourcePages(look.site, { ...release, files })) yield output(file)
}
