import { refuse } from '../../../core/error/error.ts'

/** One file of the index that becomes `bytes`, or goes away when they are null. */
export interface IndexChange {
  readonly path: string
  readonly bytes: Uint8Array | null
}

export interface Person {
  readonly name: string
  readonly email: string
}

/** What a commit says of itself: the message names crate, version, action and actor. */
export interface CommitInfo {
  readonly message: string
  readonly time: Date
  readonly author?: Person
}

/** The index as a bare git repository: the files of the sparse index, one commit for each batch. */
export interface IndexRepository {
  readonly engine: 'nodegit' | 'git'
  /** Appends a commit, durably, and returns its id; null when nothing differs from HEAD. */
  commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null>
  /** The id of the newest commit; null before the first. */
  head(): Promise<string | null>
  /** A file's bytes at HEAD; null when there is none. */
  read(path: string): Promise<Uint8Array | null>
  /** Every file at HEAD with its blob id, in the order of git's tree. */
  list(): AsyncIterable<{ readonly path: string; readonly id: string }>
  /** Packs when enough is loose or scattered, else nearly free: call it after every batch. */
  maintain(): Promise<void>
  /** Waits for what runs; afterwards the repository refuses to be used. */
  close(): Promise<void>
}

/** Lowercase; no segment begins with a dot, so `.git` and `..` cannot be written. */
const PATH = /^(?!.{1000})[a-z0-9_-][a-z0-9._-]*(?:\/[a-z0-9_-][a-z0-9._-]*)*$/

/** Refuses a batch that could not stand in the tree. */
export function checkChanges(changes: readonly IndexChange[]): void {
  const seen = new Set<string>()
  for (const { path } of changes) {
    checkPath(path)
    if (seen.has(path)) refuse('git_path_twice', { path })
    seen.add(path)
  }
}

/** Refuses a path that could not stand in the tree. */
export function checkPath(path: string): void {
  if (!PATH.test(path)) refuse('git_path_invalid', { path })
}

/** Who commits; the author is the actor when the caller names one. */
export const REGISTRY: Person = { name: 'Plimsoll', email: 'registry@localhost' }

export interface Signatures {
  readonly author: Person
  readonly committer: Person
  /** Seconds since 1970; the zone is always UTC, so both engines make the same commit. */
  readonly seconds: number
}

/** Author, committer and time of a commit, as both engines write them. */
export function signatures(info: CommitInfo): Signatures {
  return {
    author: info.author
      ? { name: plain(info.author.name), email: plain(info.author.email) }
      : REGISTRY,
    committer: REGISTRY,
    seconds: Math.floor(info.time.getTime() / 1000),
  }
}

/** A line break or bracket in a name would end the field, and begin a command of fast-import. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get through
  const safe = text.replace(/[\s\u0000-\u001f\u007f<>]+/g, ' ').trim()
  // Git strips these from both ends of a name, libgit2 strips others: here none are left.
  return safe.replace(/^[.,:;"'\\\s]+|[.,:;"'\\\s]+$/g, '') || 'unknown'
}
