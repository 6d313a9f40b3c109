import { configPath, GIT_INDEX_FOLDER, INDEX_FOLDER, placeOf } from '../../core/paths/tree.ts'

/** The order of an upload, by `stageOf`. */
export const STAGES = [0, 1, 2] as const

/**
 * Returns when a file is uploaded: 0 for what others refer to, such as `.crate` files, scripts and
 * objects of the git index, 1 for the index, which makes crates visible, 2 for pages. Files are
 * removed the other way round.
 */
export function stageOf(path: string): (typeof STAGES)[number] {
  if (path.startsWith(`${GIT_INDEX_FOLDER}/`))
    return path.startsWith(`${GIT_INDEX_FOLDER}/objects/`) ? 0 : 1
  if (path === configPath || path.startsWith(`${INDEX_FOLDER}/`)) return 1
  return placeOf(path).cache === 'immutable' ? 0 : 2
}

/** The most files that are uploaded or compared at a time. */
const AT_ONCE = 32

/**
 * Runs `work` for all items, 32 at a time or `most`; takes the next one only then. Stops after the first
 * failure, waits for those that have begun, and throws it.
 */
export async function inTurns<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  most = AT_ONCE,
): Promise<void> {
  const left = items[Symbol.iterator]()
  let isFailing = false
  const run = async () => {
    for (let next = left.next(); !next.done && !isFailing; next = left.next())
      await work(next.value)
  }
  const runs = Array.from({ length: most }, () =>
    run().catch(error => {
      isFailing = true
      throw error
    }),
  )
  for (const end of await Promise.allSettled(runs)) if (end.status === 'rejected') throw end.reason
}
