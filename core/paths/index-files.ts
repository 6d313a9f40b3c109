import { lowerPrefix, type Name } from '../name.ts'

/** Folder of the sparse index; its URL is `sparse+{base}/index/`. */
export const INDEX_FOLDER = 'index'

/** Folder of the git index, for clients of git's dumb HTTP protocol. */
export const GIT_INDEX_FOLDER = 'index.git'

/** The index's `config.json` (specification A.1). */
export const configPath = `${INDEX_FOLDER}/config.json`

/** Returns the path of a crate's index file, in lowercase as Cargo expects (specification A.2). */
export function indexPath(name: Name): string {
  return `${INDEX_FOLDER}/${lowerPrefix(name)}/${name.toLowerCase()}`
}

/** Returns the path in the git index of a file of the sparse index. */
export function pathInGit(path: string): string {
  return path.slice(INDEX_FOLDER.length + 1)
}
