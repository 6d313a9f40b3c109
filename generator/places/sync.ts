import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { configPath, GIT_INDEX_FOLDER, INDEX_FOLDER, publicFile } from '../../core/paths/tree.ts'
import { type FileInfo, hasBytes, type PathRange, type Place } from './place.ts'

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
  return publicFile(path).cache === 'immutable' ? 0 : 2
}

/** How one place is made equal to another. */
export interface SyncOptions {
  /** Returns whether a file is brought there, if it is in the other place. */
  readonly brings: (path: string) => boolean
  /** Returns whether a file is removed that the other place does not have. */
  readonly removes: (path: string) => boolean | Promise<boolean>
  readonly order?: (path: string) => (typeof STAGES)[number]
  readonly range?: PathRange
  /** The files of either place, if somebody has listed it. */
  readonly here?: Iterable<FileInfo>
  readonly there?: ReadonlyMap<string, FileInfo>
  /** Files of the same size that have not changed since this time are equal. */
  readonly since?: number
  /** Whether nothing is changed, but what would be is returned. */
  readonly isTrial?: boolean
  readonly progress?: (done: number, total: number) => void
}

/** The changes that a `sync` made, or would make. */
export interface Difference {
  readonly uploaded: readonly string[]
  readonly unchanged: number
  readonly removed: readonly string[]
  /** The files that only `to` had, removed or not. */
  readonly surplus: readonly string[]
  readonly bytes: number
}

/**
 * Makes one place equal to another: writes only what differs, stage by stage, and removes last, the
 * last stage first, so that readers never see a file without those that it refers to. Once stopped,
 * it goes on where it was. Needs memory for the paths of all files.
 */
export async function sync(from: Place, to: Place, options: SyncOptions): Promise<Difference> {
  const { brings, removes, order = stageOf, here, range, isTrial = false, progress } = options
  const left = new Map(options.there ?? (await listed(to, range)))
  const stages = STAGES.map((): FileInfo[] => [])
  for await (const file of here ?? from.list('', range))
    if (brings(file.path)) stages[order(file.path)]?.push(file)
  const total = stages.flat().length
  const differing = new Set<string>()
  let [done, bytes] = [0, 0]
  const bring = async (file: FileInfo) => {
    const { path } = file
    const there = left.get(path)
    const isOld = there?.size === file.size && file.changed < (options.since ?? -Infinity)
    const content = isOld ? null : await from.read(path)
    // Somebody may be building the tree; whatever is removed there is no part of it.
    if (!isOld && !content) return
    left.delete(path)
    if (content && !(there && (await hasBytes(to, there, content.bytes)))) {
      if (!isTrial) await to.put(path, content.bytes)
      differing.add(path)
      bytes += content.bytes.byteLength
    }
    done++
    progress?.(done, total)
  }
  for (const files of stages)
    await forEachConcurrently(
      files.sort((a, b) => (a.path < b.path ? -1 : 1)),
      bring,
    )
  const removed: string[] = []
  for (const path of left.keys()) if (await removes(path)) removed.push(path)
  for (const stage of isTrial ? [] : STAGES.toReversed())
    await forEachConcurrently(
      removed.filter(path => order(path) === stage),
      path => to.remove(path),
    )
  const uploaded = stages
    .flatMap(files => files.map(({ path }) => path))
    .filter(path => differing.has(path))
  const surplus = [...left.keys()]
  return { uploaded, unchanged: done - uploaded.length, removed, surplus, bytes }
}

async function listed(place: Place, range?: PathRange): Promise<Map<string, FileInfo>> {
  const files = new Map<string, FileInfo>()
  for await (const file of place.list('', range)) files.set(file.path, file)
  return files
}
