import { isName } from '../name.ts'
import { isVersion } from '../version.ts'
import * as crates from './crates.ts'
import { DEPENDENTS_FOLDER } from './dependents.ts'
import {
  apiPagePath,
  CATEGORIES_FOLDER,
  faviconPath,
  KEYWORDS_FOLDER,
  LISTS_FOLDER,
  statisticsPath,
  USERS_FOLDER,
} from './listings.ts'
import * as search from './search.ts'
import * as tree from './tree.ts'

const FILES: ReadonlySet<string> = new Set([
  apiPagePath,
  tree.configPath,
  tree.downloadsPath,
  tree.downloadsPlotPath,
  faviconPath,
  tree.frontPath,
  tree.noJekyllPath,
  tree.notFoundPath,
  tree.openSearchPath,
  tree.robotsPath,
  tree.newCratesPath,
  tree.updatesPath,
  search.searchPath,
  search.searchLayoutPath,
  search.searchRanksPath,
  statisticsPath,
])

const PATTERNS: readonly RegExp[] = [
  new RegExp(`^${tree.ADVISORIES_FOLDER}/(?:index|[A-Z][A-Z0-9]*(?:-[0-9a-z]+)+)\\.json$`),
  new RegExp(`^${DEPENDENTS_FOLDER}/[a-z][a-z0-9_]*/(?:index\\.html|(?:all|[0-9]+)\\.json)$`),
  new RegExp(`^${tree.ASSETS_FOLDER}/[0-9a-f]{12}/`),
  new RegExp(`^${tree.GIT_INDEX_FOLDER}/(?:HEAD|config|description|packed-refs)$`),
  new RegExp(`^${tree.GIT_INDEX_FOLDER}/(?:hooks|info|objects|refs)/`),
  new RegExp(`^${search.SEARCH_FOLDER}/(?:crates|terms/[0-9]+)/[0-9]+\\.json$`),
  /^sitemap(?:-[a-z0-9_]+)?\.xml$/,
  new RegExp(`^${tree.SITEMAPS_FOLDER}/(?:[0-9]+|pages)\\.xml$`),
  new RegExp(`^(?:${KEYWORDS_FOLDER}|${USERS_FOLDER})/(?:[^/]+/)?index\\.html$`),
  new RegExp(`^${CATEGORIES_FOLDER}/(?:[^/]+/){0,4}index\\.html$`),
  new RegExp(`^${LISTS_FOLDER}/(?:name|dependents|updated|newest)(?:-[0-9]+)?\\.html$`),
]

/** The files of a crate, as paths in the folder of a crate `a`. */
const OF_CRATE: ReadonlySet<string> = new Set(
  [
    crates.crateRecordPath,
    crates.crateFeedPath,
    crates.crateDownloadsPath,
    crates.crateDownloadsPlotPath,
    crates.cratePath,
    crates.versionsPath,
    crates.latestPath,
    crates.comparePath,
    crates.badgePath,
  ].map(pathOf => pathOf('a')),
)

/** Whether this program may have written a path of a tree; pruning leaves all others alone. */
export function isOwnPath(path: string): boolean {
  if (crates.cksumOfKey(path) !== null) return false
  const [folder, name = '', ...below] = path.split('/')
  if (folder === crates.CRATES_FOLDER && isName(name)) return isOfCrate(path, below)
  const last = below.at(-1) ?? name
  if (folder === tree.INDEX_FOLDER && isName(last) && tree.indexPath(last) === path) return true
  const isKnown = FILES.has(path) || tree.isListPath(path)
  return isKnown || PATTERNS.some(pattern => pattern.test(path))
}

/** Whether `path` is a file of hosts or version control, such as of a checkout for Pages. */
export function isOfHost(path: string): boolean {
  return path === 'CNAME' || path.startsWith('.')
}

function isOfCrate(path: string, below: readonly string[]): boolean {
  const [version = '', ...more] = below
  if (more.length > 0 && isVersion(version)) return true
  const isKnown = OF_CRATE.has([crates.crateFolder('a'), ...below].join('/'))
  return isKnown || crates.releaseOfPath(path) !== null
}
