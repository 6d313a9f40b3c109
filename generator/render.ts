import type { Name } from './name.ts'
import { configPlace, indexPlace, type Output } from './paths.ts'
import type { RegistryUrls } from './urls.ts'

export {
  type Dependent,
  type ListedCrate,
  type ListPart,
  listedCrate,
  type Owner,
  previousOf,
  renderCratePage,
  renderListPage,
  renderVersionPage,
  type WholeCrate,
} from './render/crate-pages.ts'
export { type CrateFacts, type ReleaseFacts, renderCrateRecord } from './render/crate-record.ts'
export {
  FEED_LENGTH,
  type FeedCrate,
  type FeedRelease,
  type FeedSite,
  renderCrateFeed,
  renderNewCrates,
  renderUpdates,
} from './render/feed.ts'
export { type Look, lookOf, type SiteFacts } from './render/look.ts'
export {
  BLOCK_CRATES,
  bitsFor,
  blockOf,
  bucketOf,
  CLASSES,
  classOf,
  HASH_BITS,
  hashOf,
  MAP_CRATES,
  POSTINGS_MAX,
  type Posting,
  parseQuery,
  type Query,
  RANGE_CRATES,
  RANK_YANKED,
  rangeOf,
  renderBlock,
  renderBucket,
  renderCommon,
  renderSearchLayout,
  type Searched,
  type Term,
  termsOf,
  wordsOf,
  YANKED_FROM,
} from './render/search.ts'
export {
  FILE_MAX,
  FRONT_LENGTH,
  type FrontPart,
  LIST_MAX,
  renderListing,
  renderSite,
  renderSitemap,
  renderSitemapIndex,
  renderSource,
  SOURCE_BYTES_MAX,
  type SourceFile,
} from './render/site-pages.ts'
export type { WholeRelease } from './render/version-facts.ts'

const encoder = new TextEncoder()

/** `config.json`: `dl`, `api` when there is one, `auth-required` when true, and nothing else (specification A.1). */
export function renderConfig(urls: RegistryUrls, authRequired: boolean): Output {
  const config = {
    dl: urls.dl,
    ...(urls.api !== null && { api: urls.api }),
    ...(authRequired && { 'auth-required': true }),
  }
  return { ...configPlace, bytes: encoder.encode(`${JSON.stringify(config)}\n`) }
}

/** The index file of a crate from its lines, each without a line end (specification A.2). */
export function renderIndex(name: Name, lines: readonly string[]): Output {
  return { ...indexPlace(name), bytes: encoder.encode(lines.map(line => `${line}\n`).join('')) }
}
