import { canonicalName, isName } from '../name.ts'
import { CRATES_FOLDER } from './crates.ts'
import { OVERVIEW_FOLDERS } from './listings.ts'
import { SEARCH_FOLDER } from './search.ts'
import { configPath, GIT_INDEX_FOLDER, INDEX_FOLDER, isListPath, publicFile } from './tree.ts'

type Part = 'index' | 'package' | 'pages' | 'source' | 'api'

/** Folders of a version with pages about its files. */
const SOURCE = new Set(['src', 'changes'])
const OVERVIEWS = new Set(OVERVIEW_FOLDERS)

/**
 * Returns the keys under which a CDN caches a path of the public tree or of the web API, the
 * narrowest first: `index-serde`, `crate-serde`, `index`. Empty for the git index, and for files
 * that never change and belong to no crate. All CDNs take these letters; Akamai refuses `/` and
 * `:`.
 */
export function purgeKeys(path: string): string[] {
  const segments = path.split('/').filter(segment => segment !== '')
  const part = partOfCrate(path, segments)
  if (part !== null) {
    const { name, kind } = part
    // Answers of the web API come from the same records as pages.
    const narrow = kind === 'api' ? 'pages' : kind
    return [`${narrow}-${canonicalName(name)}`, crateKeyOf(name), kind]
  }
  const isOfNone = segments[0] === GIT_INDEX_FOLDER || publicFile(path).cache === 'immutable'
  return isOfNone ? [] : [groupOf(path, segments)]
}

/** Returns the keys to purge after a change; a `.crate` stays in caches until it is removed. */
export function changedKeys(path: string, gone: 'file' | 'folder' | null): string[] {
  const [folder, name = '', version, below] = path.split('/')
  if (gone === 'folder' && folder === CRATES_FOLDER && isName(name) && below === undefined) {
    if (version === undefined) return [crateKeyOf(name)]
    return ['pages', 'source'].map(part => `${part}-${canonicalName(name)}`)
  }
  if (gone === null && publicFile(path).cache === 'immutable') return []
  return purgeKeys(path).slice(0, 1)
}

function crateKeyOf(name: string): string {
  return `crate-${canonicalName(name)}`
}

function partOfCrate(
  path: string,
  segments: readonly string[],
): { name: string; kind: Part } | null {
  const [folder, name = '', version, below = ''] = segments
  if (folder === INDEX_FOLDER && path !== configPath) {
    const last = segments.at(-1) ?? ''
    return isName(last) ? { name: last, kind: 'index' } : null
  }
  if (folder === CRATES_FOLDER && isName(name)) {
    if (path.endsWith('.crate') && segments.length === 3) return { name, kind: 'package' }
    const isSource = SOURCE.has(below) || version === 'compare'
    return { name, kind: isSource ? 'source' : 'pages' }
  }
  if (folder !== 'api') return null
  const [, , crates, ofApi = '', , action] = segments
  if (crates !== CRATES_FOLDER || !isName(ofApi)) return null
  return { name: ofApi, kind: action === 'download' ? 'package' : 'api' }
}

/** Files of no crate are purged in groups: each publish changes some of them. */
function groupOf(path: string, [folder = '', ...rest]: readonly string[]): string {
  if (folder === SEARCH_FOLDER) return 'search'
  if (folder === 'api' && rest.length === 2 && rest[1] === CRATES_FOLDER) return 'search'
  const isAll = folder === CRATES_FOLDER && rest.length === 0
  return isAll || OVERVIEWS.has(folder) || isListPath(path) ? 'lists' : 'site'
}
