export { after, before } from '../core/duration.ts'
export type { Dependency, Entry } from '../core/entry/entry.ts'
export { parseEntry } from '../core/entry/parse.ts'
export {
  type Code,
  collect,
  type Issue,
  issue,
  Refusal,
  refuse,
  refuseErrors,
} from '../core/error/error.ts'
export { presentable } from '../core/error/objections.ts'
export { type CanonicalName, canonicalName, isName, type Name, parseName } from '../core/name.ts'
export {
  CRATES_FOLDER,
  configPlace,
  cratePlace,
  notFoundPlace,
  type Place,
  placeOf,
} from '../core/paths.ts'
export { type PublishMetadata, publishMetadata } from '../core/release/metadata.ts'
export { parseListen } from '../core/settings/kind.ts'
export type { Settings } from '../core/settings/settings.ts'
export { timestamp } from '../core/timestamp.ts'
export { cargoConfig } from '../core/urls.ts'
export { compareVersions, isVersion, parseVersion, type Version } from '../core/version.ts'
export { type Acceptance, addSubmission } from './add/add.ts'
export { build, drain } from './build/build.ts'
export type { BuildContext } from './build/context.ts'
export { buildCrate } from './build/crate.ts'
export { withRegistry } from './cli/folder.ts'
export { type Io, withDir } from './cli/io.ts'
export { GitIndex, gitIndexPath } from './git/git-index.ts'
export { readHead } from './git/index-repository/bare.ts'
export { openIndexRepository } from './git/index-repository/open.ts'
export type { CommitInfo, IndexChange, IndexRepository } from './git/index-repository/repository.ts'
export { UploadPack } from './git/index-repository/upload-pack.ts'
export { type IndexPush, type PushState, pushTo } from './git/push.ts'
export type { PageContext } from './pages/context.ts'
export { buildMarks, markOutdatedPages } from './pages/pages.ts'
export { openRegistry, type Registry, readSettings, serveHolder, serveLock } from './registry.ts'
export type { Catalog } from './store/catalog/catalog.ts'
export { addEvent } from './store/catalog/event.ts'
export { countMarks } from './store/catalog/marks.ts'
export { type CrateCard, findCard, isNamed, readCards } from './store/catalog/pages/cards.ts'
export { countDependents, listDependents } from './store/catalog/pages/dependents.ts'
export { markCratePage, pageMarks } from './store/catalog/pages/page-marks.ts'
export { newCrates, updatedCrates } from './store/catalog/pages/recent.ts'
export {
  type Change,
  type CrateRecord,
  ownsCrate,
  type ReleaseRecord,
} from './store/catalog/record.ts'
export type { Found, Slice } from './store/catalog/search/found.ts'
export { crateCount, searchCrates } from './store/catalog/search/search.ts'
export { type Database, MARK_KINDS } from './store/database/database.ts'
