import { configPath, GIT_INDEX_FOLDER, INDEX_FOLDER, placeOf } from '../../core/paths/tree.ts'

/**
 * Returns when a file is uploaded: 0 for what others refer to, such as `.crate` files, scripts and
 * objects of the git index, 1 for the index, which makes crates visible, 2 for pages. Files are
 * removed the other way round.
 */
export function stageOf(path: string): 0 | 1 | 2 {
  if (path.startsWith(`${GIT_INDEX_FOLDER}/`))
    return path.startsWith(`${GIT_INDEX_FOLDER}/objects/`) ? 0 : 1
  if (path === configPath || path.startsWith(`${INDEX_FOLDER}/`)) return 1
  return placeOf(path).cache === 'immutable' ? 0 : 2
}
