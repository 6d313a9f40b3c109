import { refuse } from '../../../core/error/error.ts'

/** One file of the index that becomes `bytes`, or goes away when they are null. */
export interface IndexChange {
  readonly path: string
  readonly bytes: Uint8Array | null
}

/** What a commit says of itself: the message names crate, version, action and actor. */
export interface CommitInfo {
  readonly message: string
  readonly time: Date
}

/** Author and committer of every commit; the actor is in its message. */
export const REGISTRY = { name: 'Plimsoll', email: 'registry@localhost' }

/** The time of a commit in seconds since 1970; the zone is UTC, so all engines make one commit. */
export function secondsOf({ time }: CommitInfo): number {
  return Math.floor(time.getTime() / 1000)
}

/** A file at HEAD with its blob id. */
export interface IndexFile {
  readonly path: string
  readonly id: string
}

/** Where a commit goes: after `head`, the newest one of the branch `ref`, if there is one. */
export interface Tip {
  readonly ref: string
  readonly head: string | null
}

/** What writes and reads the objects of an index repository. */
export interface Engine {
  readonly name: 'nodegit' | 'git'
  /**
   * Appends a commit, flushes it, moves the branch unless another program has moved it, and gives
   * the id; null when nothing differs from `head`. One call at a time.
   */
  commit(tip: Tip, changes: readonly IndexChange[], info: CommitInfo): Promise<string | null>
  /** Every file of a commit, in the order of git's tree. */
  list(commit: string): AsyncIterable<IndexFile>
  close?(): void
}

/** Lowercase; no segment begins with a dot, so `.git` and `..` cannot be written. */
const PATH = /^(?!.{1000})[a-z0-9_-][a-z0-9._-]*(?:\/[a-z0-9_-][a-z0-9._-]*)*$/

/** Whether a path can stand in the tree. */
export function isIndexPath(path: string): boolean {
  return PATH.test(path)
}

/** Refuses a batch that could not stand in the tree. */
export function checkChanges(changes: readonly IndexChange[]): void {
  const seen = new Set<string>()
  for (const { path } of changes) {
    if (!isIndexPath(path)) refuse('git_path_invalid', { path })
    if (seen.has(path)) refuse('git_path_twice', { path })
    seen.add(path)
  }
}

/** Files by their paths as folders in folders. */
export interface Folder<File> {
  readonly files: Map<string, File>
  readonly folders: Map<string, Folder<File>>
}

/** The folders that files with these paths are in. */
export function folderOf<File>(files: Iterable<readonly [path: string, file: File]>): Folder<File> {
  const root: Folder<File> = { files: new Map(), folders: new Map() }
  for (const [path, file] of files) {
    const [name = '', ...above] = path.split('/').reverse()
    let folder = root
    for (const part of above.reverse()) {
      const inner = folder.folders.get(part) ?? { files: new Map(), folders: new Map() }
      folder.folders.set(part, inner)
      folder = inner
    }
    folder.files.set(name, file)
  }
  return root
}
