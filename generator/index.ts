/**
 * The public interface of the generator, which keeps the registry as files and needs no server. The
 * daemon is built on it, and programs may use it as a library: `initRegistry` and `openRegistry`,
 * then `addCrateFile`, `build`, `buildPages`, and `verify`; or `buildStatic` for a tree without a
 * database. A refused operation throws a `Refusal`.
 */

// The registry: a folder with settings, database, crate store and public tree.

export { Backoff } from '../core/async/backoff.ts'
export { Mutex } from '../core/async/mutex.ts'
export { Repeater } from '../core/async/repeater.ts'
export { sha256, sha256Bytes, sha256Of } from '../core/sha256.ts'
export type { ChangeNumber } from './places/change-number.ts'
export { disk } from './places/disk/disk.ts'
export { isStorageRefusal, systemRefusal } from './places/disk/fault.ts'
export {
  DATABASE_FILE,
  initRegistry,
  isRegistry,
  openRegistry,
  type Registry,
  readSettings,
  type SettingSources,
  serveHolder,
  serveLock,
} from './registry/registry.ts'

// Operations on a registry.

export { completeMirror, isMirrored } from './deploy/complete-mirror.ts'
export { markOutdatedPages } from './pages/claim.ts'
export { buildMarks } from './pages/marked.ts'
export { buildPages } from './pages/pages.ts'
export { type PageContext, PLIMSOLL } from './projections/context.ts'
export { type Built, build, drain } from './projections/index/build.ts'
export { renderConfig } from './projections/index/crate.ts'
export type { Submission } from './registry/check.ts'
export { addCrateFile, type Publication, PublishQueue } from './registry/publish.ts'
export { beginServing, noteAddress, type Serving } from './serving.ts'
export {
  buildStatic,
  type StaticBuild,
  type StaticResult,
} from './static/build.ts'
export { readStaticSettings } from './static/settings.ts'
export {
  lacksAdministrator,
  NO_ADMINISTRATOR,
  readStatus,
  type Status,
  warningsOf,
} from './status.ts'
export type { Finding, VerifyOptions } from './verify/finding.ts'
export { verify } from './verify/verify.ts'

// The catalog: the records of all releases.

export type { Database } from './database/connection.ts'
export { describeDaemon, newerDaemons } from './database/daemons.ts'
export { isOnServer } from './database/engine.ts'
export { pace } from './database/pace.ts'
export { forgetBuckets, oweTokens, takeToken } from './database/rate-limits.ts'
export { all, first, LIST, one, type Queries, run, upsert } from './database/statement.ts'
export { pageMarks } from './pages/due.ts'
export type { Lease } from './places/locks/process-mutex.ts'
export { IDLE_KINDS, MARK_KINDS, PAGE_KINDS, workOf } from './projections/projections.ts'
export {
  addEvent,
  type Change,
  makeChange,
  operatorChange,
  type Permitted,
} from './records/change.ts'
export { follow, type Records } from './records/crate-change.ts'
export {
  type CrateRecord,
  findCrate,
  isOwner,
  listOwners,
  type Owner,
  registryCounts,
  requireOwner,
} from './records/crates.ts'
export { addDownloads, type DownloadCount } from './records/downloads/add.ts'
export { hasDueDownloads, markDueDownloads } from './records/downloads/due.ts'
export {
  crateDownloads,
  type DownloadNumbers,
  type Downloads,
  downloadNumbers,
  mostDownloaded,
  mostRecentlyDownloaded,
  NO_DOWNLOADS,
  registryDownloads,
  releaseDownloads,
  versionTotals,
} from './records/downloads/read.ts'
export { type ExistingRelease, readExisting } from './records/existing.ts'
export { recordFailure, writeFact } from './records/facts.ts'
export { readIndexFile } from './records/index-file.ts'
export {
  countFailedMarks,
  countMarks,
  hasMarksUpTo,
  lastChange,
  listFailedMarks,
  listMarks,
  nextRetry,
} from './records/marks.ts'
export { type CrateCard, findCard, isNamed, readCards } from './records/pages/cards.ts'
export { countDependents, listDependents } from './records/pages/dependents.ts'
export { listPlainPages } from './records/pages/plain-pages.ts'
export { crateCount } from './records/pages/prefixes.ts'
export { newCrates, updatedCrates } from './records/pages/recent.ts'
export { isPaused, requireUnpaused } from './records/pause.ts'
export { setYanked } from './records/release-changes.ts'
export {
  findRelease,
  listReleases,
  listVersions,
  type ReleaseRecord,
  type ReleaseSummary,
  readReadme,
  readSummaries,
  releaseDependencies,
  releaseOfBytes,
} from './records/releases.ts'

// The git index.

export { fetchProblem, GitIndex, gitIndexPath } from './git/git-index.ts'
export { readHead } from './git/index-repository/bare-repository.ts'
export { UploadPack } from './git/index-repository/git-process.ts'

// Names, versions, index entries.

export type { Dependency, Entry } from '../core/entry/entry.ts'
export { readEntry } from '../core/entry/parse.ts'
export { type CanonicalName, canonicalName, isName, type Name, parseName } from '../core/name.ts'
export { purgeKeys } from '../core/paths/purge-keys.ts'
export { FILTERS, type Sort } from '../core/paths/search.ts'
export { type PublishMetadata, publishMetadata } from '../core/release/metadata.ts'
export type { Slice } from '../core/search/files/layout.ts'
export { isEmptySearch, parametersOf, readSearch } from '../core/search/request.ts'
export { compareVersions, isVersion, parseVersion, type Version } from '../core/version.ts'
export { searchFresh } from './pages/fresh-search.ts'
export { type FoundCrates, NO_CRATES } from './projections/search/search.ts'

// Issues and refusals.

export { quotedText } from '../core/error/catalog.ts'
export {
  type Code,
  collect,
  groupWarnings,
  type Issue,
  issue,
  type Kind,
  kindOf,
  Refusal,
  refuse,
  refuseErrors,
  warning,
} from '../core/error/error.ts'

// Settings, times, paths, addresses.

export {
  DAYS_KEPT,
  type DayCounts,
  dateOf,
  dayOf,
  daysUntil,
  sumUntil,
} from '../core/day-counts.ts'
export {
  CRATES_FOLDER,
  crateFilePath,
  crateKey,
  releaseOfPath,
} from '../core/paths/crates.ts'
export { isImagePath } from '../core/paths/images.ts'
export { movedPath } from '../core/paths/moved.ts'
export {
  configPath,
  isIndexFile,
  notFoundPath,
  type PublicFile,
  publicFile,
} from '../core/paths/tree.ts'
export { counted } from '../core/quantity.ts'
export { type ListenAddress, parseListen } from '../core/settings/kind.ts'
export type { Settings } from '../core/settings/settings.ts'
export { after, before, timestamp } from '../core/timestamp.ts'
export { type OwnDl, ownDl, requireOwnDl } from '../core/urls/dl-template.ts'
export { cargoConfig, registryUrls } from '../core/urls/urls.ts'
