/** The public surface of the site: what the generator and the daemon call. */
export type { AuditFacts, AuditRow, UserRow, UsersFacts } from './account/admin-pages.ts'
export { auditPage, usersPage } from './account/admin-pages.ts'
export type { Confirmation, ManageFacts } from './account/crate-page.ts'
export { confirmPage, managePage } from './account/crate-page.ts'
export { CSRF_FIELD } from './account/form.ts'
export type { HomeFacts, Invitation, Session } from './account/home-page.ts'
export { homePage } from './account/home-page.ts'
export type { LoginFacts } from './account/login-page.ts'
export { loginPage } from './account/login-page.ts'
export type { TokenDraft, TokenRow } from './account/tokens.ts'
export type { Notice, Viewer } from './account/viewer.ts'
export {
  absoluteLink,
  account,
  crateFeedPath,
  cratePath,
  feedPath,
  frontPath,
  listPath,
  MAP_CRATES,
  notFoundPath,
  searchPath,
  versionPath,
} from './address.ts'
export { assets } from './assets.ts'
export { contentSecurityPolicy } from './content-security-policy.ts'
export type { CrateCard, CrateFacts, Dependent, Owner, VersionRow } from './crate-facts.ts'
export { cratePage, versionPage } from './crate-page.ts'
export type { FrontFacts } from './front-page.ts'
export { frontPage } from './front-page.ts'
export type { ListTier } from './list-page.ts'
export { LIST_MAX, listPage, listPages, listTiers } from './list-page.ts'
export { errorPage, notFoundPage } from './not-found-page.ts'
export type { PagePlace } from './pager.ts'
export { noJekyll, openSearch, robots } from './robots.ts'
export {
  BLOCK_CRATES,
  blockOf,
  blockPath,
  bucketOf,
  bucketPath,
  commonPath,
  HASH_BITS,
  hashOf,
  RANGE_CRATES,
  rangeOf,
} from './search/buckets.ts'
export type { Posting, SearchEntry, SearchedEntry, Term } from './search/shards.ts'
export { bitsFor, blockFile, bucketFile, commonFile, layoutFile, POSTINGS_MAX, searchFiles } from './search/shards.ts'
export type { Searched } from './search/terms.ts'
export { CLASSES, classOf, termsOf, YANKED_FROM } from './search/terms.ts'
export type { Query } from './search/words.ts'
export { canonical, parseQuery, RANK_YANKED, wordsOf } from './search/words.ts'
export type { SearchResults } from './search-page.ts'
export { searchPage, staticSearchPage } from './search-page.ts'
export type { ForeignRegistry, SiteFacts, SiteLink } from './site-facts.ts'
export { siteFacts } from './site-facts.ts'
export type { SiteFile } from './site-file.ts'
export type { MappedCrate } from './sitemaps.ts'
export { sitemapIndex, sitemapPages, sitemapPart, sitemaps } from './sitemaps.ts'
export type { SourceFile } from './source/file.ts'
export { FILE_MAX } from './source/file.ts'
export type { SourceFacts } from './source/pages.ts'
export { sourcePages } from './source/pages.ts'
export type { ComparedFacts, DependencyFacts, FeatureFacts, ReadmeFacts, VersionFacts } from './version-facts.ts'
