import type { Entry } from '../../../core/entry/entry.ts'
import type { Issue } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import type { Version } from '../../../core/version.ts'

/** What can be imported; the words of `--as`. */
export const SOURCE_KINDS = [
  'tree',
  'git',
  'sparse',
  'local-registry',
  'cargo-cache',
  'vendor',
  'crates',
] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

/** One release of the source: its description and a way to its bytes. */
export interface SourceRelease {
  /** File and line, or path, for people. */
  readonly where: string
  /** Known before the bytes are; null for a `.crate` that nothing but itself describes. */
  readonly identity: { readonly name: Name; readonly version: Version } | null
  /** Its index line; null without an index: then the packaged manifest counts. */
  readonly entry: Entry | null
  /** SHA-256 that the bytes must have, as the source says or, without an index, as they are. */
  readonly cksum: string
  /** Reads the bytes, again from the start after a failure. Refuses when there are none. */
  take<T>(use: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T>
}

/** A part of the source that is not taken, and why. */
export interface Refused {
  readonly where: string
  readonly name?: string
  readonly version?: string
  readonly reasons: readonly Issue[]
}

/** What the source has of one crate. */
export interface SourceCrate {
  readonly name: Name | null
  /**
   * In the order of the source. A version may have several candidates: the first good one is taken.
   */
  readonly versions: readonly (readonly SourceRelease[])[]
  readonly refused: readonly Refused[]
}

/** What an operator asks to be imported. */
export interface ImportRequest {
  /** Folder, file or URL. */
  readonly source: string
  /** What it is, when it could be several things. */
  readonly as: SourceKind | null
  /** Folder or URL of the `.crate` files, when they are not where the source says. */
  readonly crates: string | null
  /** File with the names of the crates of a sparse index. */
  readonly names: string | null
  readonly token: string | null
  /** Index URLs that mean the source, besides those it is known by. */
  readonly sourceUrls: readonly string[]
}

/** A registry to import. */
export interface Source {
  readonly kind: SourceKind
  /** What it was recognised as, for people. */
  readonly description: string
  /** Every index URL that means the source itself. */
  readonly ownUrls: readonly string[]
  /** How many crates there will be. */
  readonly total: number
  crates(): AsyncIterable<SourceCrate>
  close(): Promise<void>
}

/** Where the `.crate` files of an index are. */
export interface CrateSource {
  /** For people. */
  readonly description: string
  take<T>(wanted: Wanted, use: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T>
}

/** What a crateSource is asked for. */
export interface Wanted {
  readonly name: Name
  readonly version: Version
  readonly cksum: string
}
