import { isName, lowerPrefix, type Name } from '../name.ts'
import { isVersion, type Version } from '../version.ts'
import { IMAGES_FOLDER } from './images.ts'

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

/** Returns the release whose pages and files are in a folder, or null. */
export function releaseOfFolder(path: string): { name: Name; version: Version } | null {
  const [folder, name = '', version = '', ...more] = path.split('/')
  const isRelease = folder === CRATES_FOLDER && isName(name) && isVersion(version)
  return isRelease && more.length === 0 ? { name, version } : null
}

const inCrate = (file: string) => (name: string) => `${crateFolder(name)}/${file}`

/** The full record of a crate, for tools. */
export const crateRecordPath = inCrate('crate.json')
/** The Atom feed of a crate's versions. */
export const crateFeedPath = inCrate('feed.xml')
/** The numbers of a crate's downloads, for tools, and their drawing. */
export const crateDownloadsPath = inCrate('downloads.json')
export const crateDownloadsPlotPath = inCrate('downloads.svg')
/** A crate's page, which shows its newest version, and the page of its versions. */
export const cratePath = inCrate('index.html')
export const versionsPath = inCrate('versions/index.html')
/** A page that leads to a crate's newest version; no version is `latest`. */
export const latestPath = inCrate('latest/index.html')
/** The page that compares any two versions; no version is `compare`. */
export const comparePath = inCrate('compare/index.html')
/** The badge with a crate's name and newest version. */
export const badgePath = inCrate('badge.svg')

/** Maximum number of versions on the page of a crate; with more, there is a page of versions. */
export const VERSIONS_SHOWN = 100

/** Returns the paths in a crate's folder that show its downloads. */
export function crateDownloadsPaths(name: Name): string[] {
  return [crateDownloadsPath(name), crateDownloadsPlotPath(name)]
}

const inVersion = (file: string) => (name: string, version: string) =>
  `${crateFolder(name)}/${version}/${file}`

/** A version's page; the `+` of build metadata is not escaped. */
export const versionPath = inVersion('index.html')
/** The page with the changes of a version since the one before it. */
export const changesPath = inVersion('changes/index.html')
/** The page that shows the files of a version. */
export const sourcePath = inVersion('src/index.html')

/** Returns the path of an image in a README; `file` names its SHA-256 and its type. */
export function imagePath(name: string, version: string, file: string): string {
  return `${crateFolder(name)}/${version}/${IMAGES_FOLDER}/${file}`
}

/**
 * Returns the key of a `.crate` in the crate store. It contains the checksum, so that nothing is
 * overwritten. It is lowercase, because the names of two crates never differ only in case.
 */
export function crateKey(name: Name, cksum: string): string {
  return `${lowerPrefix(name)}/${name.toLowerCase()}/${cksum}.crate`
}

/** Returns the SHA-256 in a key of the crate store; null for any other text. */
export function cksumOfKey(key: string): string | null {
  return /(?:^|\/)([0-9a-f]{64})\.crate$/.exec(key)?.[1] ?? null
}

/** Most characters of the prefix that paths of the tree have in a bucket. */
export const PREFIX_MAX = 512
