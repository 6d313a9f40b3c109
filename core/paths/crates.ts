import { isName, lowerPrefix, type Name } from '../name.ts'
import { isVersion, type Version } from '../version.ts'

/** Folder of the crates: their `.crate` files and pages. */
export const CRATES_FOLDER = 'crates'

/** Returns the folder with the files of one crate. */
export function crateFolder(name: string): string {
  return `${CRATES_FOLDER}/${name}`
}

/** Returns the file name of a `.crate`; the `+` of build metadata is not escaped, as in Cargo. */
export function crateFile(name: Name, version: Version): string {
  return `${name}-${version}.crate`
}

/** Returns the path of a `.crate`, to which the default `dl` template points. */
export function crateFilePath(name: Name, version: Version): string {
  return `${crateFolder(name)}/${crateFile(name, version)}`
}

/** Returns the release of a path that `crateFilePath` returns; null for any other path. */
export function releaseOfPath(path: string): { name: Name; version: Version } | null {
  const [folder, name = '', file = '', ...more] = path.split('/')
  const version = file.slice(name.length + 1, -'.crate'.length)
  const isRelease = folder === CRATES_FOLDER && isName(name) && isVersion(version)
  if (!isRelease || more.length > 0 || file !== crateFile(name, version)) return null
  return { name, version }
}

/** Returns the release whose pages and files are in a folder; null for any other folder. */
export function releaseOfFolder(path: string): { name: Name; version: Version } | null {
  const [folder, name = '', version = '', ...more] = path.split('/')
  const isRelease = folder === CRATES_FOLDER && isName(name) && isVersion(version)
  return isRelease && more.length === 0 ? { name, version } : null
}

/** Returns the path of a crate's `crate.json`, the full record for tools. */
export function crateRecordPath(name: Name): string {
  return `${crateFolder(name)}/crate.json`
}

/** Returns the path of the Atom feed of a crate's versions. */
export function crateFeedPath(name: string): string {
  return `${crateFolder(name)}/feed.xml`
}

/** Returns the path of the numbers of a crate's downloads, for tools. */
export function crateDownloadsPath(name: string): string {
  return `${crateFolder(name)}/downloads.json`
}

/** Returns the path of the drawing of a crate's downloads. */
export function crateDownloadsPlotPath(name: string): string {
  return `${crateFolder(name)}/downloads.svg`
}

/** Returns the path of a crate's page, which shows its newest version. */
export function cratePath(name: string): string {
  return `${crateFolder(name)}/index.html`
}

/** Maximum number of versions on the page of a crate; with more, there is a page of versions. */
export const VERSIONS_SHOWN = 100

/** Returns the path of the page of a crate's versions. */
export function versionsPath(name: string): string {
  return `${crateFolder(name)}/versions/index.html`
}

/** Returns the path of a page that leads to a crate's newest version; no version is `latest`. */
export function latestPath(name: string): string {
  return `${crateFolder(name)}/latest/index.html`
}

/** Returns the path of the badge with a crate's name and newest version. */
export function badgePath(name: string): string {
  return `${crateFolder(name)}/badge.svg`
}

/** Returns the paths in a crate's folder that are rendered from all of its versions. */
export function cratePagePaths(name: Name): string[] {
  const pages = [cratePath(name), badgePath(name), versionsPath(name), latestPath(name)]
  return [crateRecordPath(name), crateFeedPath(name), ...pages, ...crateDownloadsPaths(name)]
}

/** Returns the paths in a crate's folder that show its downloads. */
export function crateDownloadsPaths(name: Name): string[] {
  return [crateDownloadsPath(name), crateDownloadsPlotPath(name)]
}

/** Returns the path of a version's page; the `+` of build metadata is not escaped. */
export function versionPath(name: string, version: string): string {
  return `${crateFolder(name)}/${version}/index.html`
}

/**
 * Returns the key of a `.crate` in the crate store. It contains the checksum, so that nothing is
 * overwritten. It is lowercase, because the names of two crates never differ only in case.
 */
export function crateKey(name: Name, cksum: string): string {
  return `${lowerPrefix(name)}/${name.toLowerCase()}/${cksum}.crate`
}

/** Returns the path of the page with the changes of a version since the one before it. */
export function changesPath(name: string, version: string): string {
  return `${crateFolder(name)}/${version}/changes/index.html`
}

/** Returns the path of the form that compares two versions; only a daemon answers it. */
export function compareFormPath(name: string): string {
  return `${crateFolder(name)}/compare/index.html`
}

/** Returns the path of the page that compares two versions; only a daemon answers it. */
export function comparePath(name: string, from: string, to: string): string {
  return `${crateFolder(name)}/compare/${from}...${to}`
}

/** Returns the folder of the source pages of a version. */
export function sourceFolder(name: string, version: string): string {
  return `${crateFolder(name)}/${version}/src`
}

/** Returns the path of the page with the file tree of a version. */
export function sourcePath(name: string, version: string): string {
  return `${sourceFolder(name, version)}/index.html`
}

/** Folders of a version that have the pages and files of its source. */
export const SOURCE_FOLDERS: readonly string[] = ['src', 'parts', 'raw', 'changes']

/** Most characters of the prefix that paths of the tree have in a bucket. */
export const PREFIX_MAX = 512

/** Most bytes of such a path: S3 takes keys of 1,024 bytes, with the prefix and its `/`. */
const PATH_MAX = 511

/** Most bytes of a name in a path of a package; disks take 255, with what is added to it. */
const SEGMENT_MAX = 200

/**
 * Returns the path of a file's page, or of a further part of a long file; null for a path that is
 * not safe in every file system and URL, or too long for an object storage. A name gets a `_` if it
 * could collide with a folder or the page of the tree, if it begins with a dot, because file
 * servers hide such files, or if it is the name of a Windows device.
 */
export function sourceFilePath(
  name: string,
  version: string,
  file: string,
  part = 1,
): string | null {
  if (isTooLong(name, version, file)) return null
  const names = safeNames(file, /\.html_*$/i)
  if (names === null) return null
  const last = names.pop() ?? ''
  const page = names.length === 0 && /^index_*$/i.test(last) ? `${last}_.html` : `${last}.html`
  const parts = `${crateFolder(name)}/${version}/parts/${part}`
  return [part === 1 ? sourceFolder(name, version) : parts, ...names, page].join('/')
}

/**
 * Returns the path of a file's bytes, by the same rules. An image keeps its extension, lowercase;
 * everything else gets `.txt`, so that no host takes it for a page.
 */
export function rawFilePath(
  name: string,
  version: string,
  file: string,
  isImage: boolean,
): string | null {
  if (isTooLong(name, version, file)) return null
  const names = safeNames(file, /\.(?:txt|png|jpe?g|gif|webp)_*$/i)
  if (names === null) return null
  const last = names.pop() ?? ''
  const shown = isImage ? last.replace(/[^.]*$/, one => one.toLowerCase()) : `${last}.txt`
  return [rawFolder(name, version), ...names, shown].join('/')
}

/** Returns the folder of the raw files of a version. */
export function rawFolder(name: string, version: string): string {
  return `${crateFolder(name)}/${version}/raw`
}

/** Whether any path of the tree that is made of a file's could be too long. */
function isTooLong(name: string, version: string, file: string): boolean {
  const longest = `${crateFolder(name)}/${version}/parts/1000/${file}_.html`
  // Each name may get a `_` at both ends.
  return bytesOf(longest) + 2 * file.split('/').length > PATH_MAX
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Splits a path into safe names; folders that end like a file get a `_`. Null for unsafe paths. */
function safeNames(file: string, reserved: RegExp): string[] | null {
  const segments = file.split('/')
  if (!segments.every(isPlain)) return null
  const last = segments.pop() ?? ''
  const folders = segments.map(folder => (reserved.test(folder) ? `${folder}_` : folder))
  return [...folders, last].map(shown)
}

function shown(name: string): string {
  return /^_*(?:\.|(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))/i.test(name) ? `_${name}` : name
}

/** Some hosts refuse a whole site because of one name with `#` or `%`. */
function isPlain(segment: string): boolean {
  if (segment === '' || segment === '.' || segment === '..' || /[. ]$/.test(segment)) return false
  return bytesOf(segment) <= SEGMENT_MAX && !/[\p{Cc}\p{Cs}\\<>:"|?*#%]/u.test(segment)
}
