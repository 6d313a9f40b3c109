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
export { renderConfig, renderIndex } from './render/index-files.ts'
export { type Look, lookOf, type SiteFacts } from './render/look.ts'
export { renderBlock, renderBucket, renderCommon, renderSearchLayout } from './render/search.ts'
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
  type Searched,
  type Term,
  termsOf,
  wordsOf,
  YANKED_FROM,
} from './render/terms.ts'
export type { WholeRelease } from './render/version-facts.ts'
