import { lowerPrefix, type Name } from '../name.ts'

/** Folder of the sparse index; its URL is `sparse+{base}/index/`. */
export const INDEX_FOLDER = 'index'

/** Folder of the git index, where clients of the dumb protocol find it. */
export const GIT_INDEX_FOLDER = 'index.git'

/** The index's `config.json` (specification A.1). */
export const configPath = `${INDEX_FOLDER}/config.json`

/** The index file of a crate, in the lowercase tier where Cargo looks (specification A.2). */
export function indexPath(name: Name): string {
  return `${INDEX_FOLDER}/${lowerPrefix(name)}/${name.toLowerCase()}`
}

/** Where the git index has a file of the sparse index. */
export function pathInGit(path: string): string {
  return path.slice(INDEX_FOLDER.length + 1)
}
