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
  readonly name: string | null
  readonly version: string | null
  readonly issues: readonly Issue[]
}

/** A part of the source that is not taken, with as much of its identity as is known. */
export function refusedPart(
  where: string,
  issues: readonly Issue[],
  identity: { readonly name: string; readonly version?: string } | null = null,
): Refused {
  return { where, name: identity?.name ?? null, version: identity?.version ?? null, issues }
}

/** What the source has of one crate. */
export interface SourceCrate {
  readonly name: Name | null
  /** In the order of the source. Of several candidates for a version the first good one counts. */
  readonly versions: readonly (readonly SourceRelease[])[]
  readonly refused: readonly Refused[]
}

/** A crate of which nothing is taken. */
export function refusedCrate(...refused: readonly Refused[]): SourceCrate {
  return { name: null, versions: [], refused }
}

/** What an operator asks to be imported. */
export interface ImportRequest {
  /** Folder, file or URL. */
  readonly source: string
  /** What it is, when it could be several things. */
  readonly as?: SourceKind
  /** Folder or URL of the `.crate` files, when they are not where the source says. */
  readonly crates?: string
  /** File with the names of the crates of a sparse index. */
  readonly names?: string
  readonly token?: string
  /** Index URLs that mean the source, besides those it is known by. */
  readonly sourceUrl?: readonly string[]
}

/** A source that has been opened. */
export interface OpenedSource {
  /** What it was recognized as, for people. */
  readonly description: string
  /** Every index URL that means the source itself. */
  readonly ownUrls: readonly string[]
  /** How many crates there will be. */
  readonly total: number
  crates(): AsyncIterable<SourceCrate>
  close?(): Promise<void>
}

/** A registry to import. */
export interface Source extends OpenedSource {
  readonly kind: SourceKind
}
