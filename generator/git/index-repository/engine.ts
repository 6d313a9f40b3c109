/** A change to one index file: its new bytes, or null to remove it. */
export interface IndexChange {
  readonly path: string
  readonly bytes: Uint8Array | null
}

/** The metadata of a commit: the message contains crate, version, action, and actor. */
export interface CommitInfo {
  readonly message: string
  readonly time: Date
}

/** Author and committer of every commit; the actor is in its message. */
export const REGISTRY = { name: 'Plimsoll', email: 'registry@localhost' }

/** Returns a commit's time in seconds since 1970; always UTC, so that all engines agree. */
export function secondsOf({ time }: CommitInfo): number {
  return Math.floor(time.getTime() / 1000)
}

/** A file at HEAD with its blob id. */
export interface IndexFile {
  readonly path: string
  readonly id: string
}

/** The position of a new commit: after `head`, the newest commit of the branch `ref`, if any. */
export interface Tip {
  readonly ref: string
  readonly head: string | null
}

/** An engine writes and reads the objects of an index repository. */
export interface Engine {
  /**
   * Appends a commit, syncs it, moves the branch unless another program has moved it, and returns
   * the id; null when nothing differs from `head`. One call at a time.
   */
  commit(tip: Tip, changes: readonly IndexChange[], info: CommitInfo): Promise<string | null>
  /** Lists every file of a commit, in the order of git's tree. */
  list(commit: string): AsyncIterable<IndexFile>
  /** Ends what works on behalf of the next commit, so that all may be packed. */
  rest(): Promise<void>
}

/** Matches lowercase paths without a segment that begins with a dot, such as `.git` or `..`. */
const PATH = /^(?!.{1000})[a-z0-9_-][a-z0-9._-]*(?:\/[a-z0-9_-][a-z0-9._-]*)*$/

/** Returns whether a path is allowed in the tree. */
export function isIndexPath(path: string): boolean {
  return PATH.test(path)
}

/** Files as a tree of folders. */
export interface Folder<File> {
  readonly files: Map<string, File>
  readonly folders: Map<string, Folder<File>>
}

/** Returns the tree of folders that contain files with these paths. */
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
