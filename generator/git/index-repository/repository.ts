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

/** The index as a bare git repository: the bytes of the sparse tree, one commit for each batch of changes. */
export interface IndexRepository {
  readonly engine: 'nodegit' | 'git'
  /** Appends one commit and gives its id; null when nothing differs from HEAD. Durable and visible when it returns. */
  commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null>
  /** The id of the newest commit; null before the first. */
  head(): Promise<string | null>
  /** A file's bytes at HEAD; null when there is none. */
  read(path: string): Promise<Uint8Array | null>
  /** Every file at HEAD with its blob id, in the order of git's tree. */
  list(): AsyncIterable<{ readonly path: string; readonly id: string }>
  /** Packs when enough is loose or scattered; nearly free when not, so call it after every batch. */
  maintain(): Promise<void>
  /** Waits for what runs; afterwards the repository refuses to be used. */
  close(): Promise<void>
}

/** Lowercase as in DESIGN §7; no segment begins with a dot, so `.git` and `..` cannot be written. */
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

export function signatures(info: CommitInfo): Signatures {
  return {
    author: info.author
      ? { name: plain(info.author.name), email: plain(info.author.email) }
      : REGISTRY,
    committer: REGISTRY,
    seconds: Math.floor(info.time.getTime() / 1000),
  }
}

/** A line break or bracket in a name would end the field, and in fast-import's stream begin a command. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get through
  const safe = text.replace(/[\s\u0000-\u001f\u007f<>]+/g, ' ').trim()
  // Git strips these from both ends of a name and libgit2 strips others: none are left to differ about.
  return safe.replace(/^[.,:;"'\\\s]+|[.,:;"'\\\s]+$/g, '') || 'unknown'
}
