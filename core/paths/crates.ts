import { lowerPrefix, type Name } from '../name.ts'
import type { Version } from '../version.ts'

/** Folder of the crates: their `.crate` files and pages. */
export const CRATES_FOLDER = 'crates'

/** The folder with the files of one crate. */
export function crateFolder(name: string): string {
  return `${CRATES_FOLDER}/${name}`
}

/** File name of a `.crate`; the `+` of build metadata is not escaped, as in Cargo's requests. */
export function crateFile(name: Name, version: Version): string {
  return `${name}-${version}.crate`
}

/** The `.crate` of a version, where the default `dl` template points. */
export function crateFilePath(name: Name, version: Version): string {
  return `${crateFolder(name)}/${crateFile(name, version)}`
}

/** The full record of a crate, for tools. */
export function crateRecordPath(name: Name): string {
  return `${crateFolder(name)}/crate.json`
}

/** The Atom feed of a crate's versions. */
export function crateFeedPath(name: string): string {
  return `${crateFolder(name)}/feed.xml`
}

/** The page of a crate, which is the page of its newest version. */
export function cratePath(name: string): string {
  return `${crateFolder(name)}/index.html`
}

/** The files in a crate's folder that are rendered from all of its versions. */
export function cratePagePaths(name: Name): string[] {
  return [crateRecordPath(name), crateFeedPath(name), cratePath(name)]
}

/** The page of a version; the `+` of build metadata is not escaped. */
export function versionPath(name: string, version: string): string {
  return `${crateFolder(name)}/${version}/index.html`
}

/**
 * Key of a `.crate` in the crate store. It contains the checksum, so that nothing is overwritten,
 * and is lowercase, because no two crates have names that differ only in case.
 */
export function crateKey(name: Name, cksum: string): string {
  return `${lowerPrefix(name)}/${name.toLowerCase()}/${cksum}.crate`
}
