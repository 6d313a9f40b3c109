import { isName } from '../name.ts'
import { isVersion } from '../version.ts'
import { CRATES_FOLDER, cksumOfKey, releaseOfPath } from './crates.ts'
import { apiPagePath, faviconPath, OVERVIEW_FOLDERS, statisticsPath } from './listings.ts'
import { SEARCH_FOLDER } from './search.ts'
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
  statisticsPath,
])

const PATTERNS: readonly RegExp[] = [
  new RegExp(`^${tree.ASSETS_FOLDER}/[0-9a-f]{12}/`),
  new RegExp(`^${tree.GIT_INDEX_FOLDER}/(?:HEAD|config|description|packed-refs)$`),
  new RegExp(`^${tree.GIT_INDEX_FOLDER}/(?:hooks|info|objects|refs)/`),
  new RegExp(`^${SEARCH_FOLDER}/.*\\.(?:html|json)$`),
  new RegExp(`^(?:${tree.FEEDS_FOLDER}|${tree.SITEMAPS_FOLDER})/[^/]+\\.xml$`),
  new RegExp(`^(?:${OVERVIEW_FOLDERS.join('|')})/.*\\.html$`),
  /^sitemap(?:-[a-z0-9_]+)?\.xml$/,
]

/** Pages and data of a crate, below its folder. Other JSON may be of a workspace with `crates/`. */
const OF_CRATE = /^(?:[a-z]+\/index\.html|[a-z]+\.(?:html|svg|xml)|(?:crate|downloads)\.json)$/

/** Whether this program may have written a path of a tree; pruning leaves all others alone. */
export function isOwnPath(path: string): boolean {
  if (cksumOfKey(path) !== null) return false
  const [folder, name = '', ...below] = path.split('/')
  if (folder === CRATES_FOLDER && isName(name)) return isOfCrate(path, below)
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
  return OF_CRATE.test(below.join('/')) || releaseOfPath(path) !== null
}
