// generator/import/source: The registries that an import can read. import/ calls it; a source never
// knows where its crates go.
import type { Entry } from '../../../core/entry/entry.ts'
import { type Issue, issue, Refusal } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import type { Version } from '../../../core/version.ts'
import { isStorageRefusal, systemRefusal } from '../../places/disk/fault.ts'

/** The kinds of sources that can be imported; the values of `--as`. */
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

/** The largest `.crate` that is read, even if publishes have another limit. */
export const CRATE_MAX = 512 * 1024 * 1024

export interface SourceRelease {
  /** File and line, or path, for messages. */
  readonly where: string
  /** Known without the bytes; null for a `.crate` that only its own manifest describes. */
  readonly identity: { readonly name: Name; readonly version: Version } | null
  /** Its index entry; null without an index: then the packaged manifest counts. */
  readonly entry: Entry | null
  /**
   * The SHA-256 of the bytes: required by the index or, without an index, of the bytes as found.
   */
  readonly cksum: string
  /** Reads the bytes; starts over after a failure. Refuses when there are none. */
  take<T>(use: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T>
}

export interface RefusedPart {
  readonly where: string
  readonly name: string | null
  readonly version: string | null
  readonly issues: readonly Issue[]
}

/** Returns a part of the source that is not imported, with its identity as far as known. */
export function refusedPart(
  where: string,
  issues: readonly Issue[],
  identity: { readonly name: string; readonly version?: string } | null = null,
): RefusedPart {
  return { where, name: identity?.name ?? null, version: identity?.version ?? null, issues }
}

/** For `catch`: returns the refusal of a part that cannot be read; rethrows every other error. */
export function refusalOfPart(error: unknown): Refusal {
  const refusal = error instanceof Refusal ? error : systemRefusal(error, 'operator')
  // A registry that takes no writes would refuse all other parts, too.
  if (refusal && !isStorageRefusal(refusal)) return refusal
  const { code, path = '' } = error as NodeJS.ErrnoException
  // Others may change the source meanwhile.
  if (!refusal && code === 'ENOENT') return new Refusal([issue('file_missing', { path })])
  throw error
}

export interface SourceCrate {
  readonly name: Name | null
  /** In the source's order. If a version has several candidates, the first valid one counts. */
  readonly versions: readonly (readonly SourceRelease[])[]
  readonly refused: readonly RefusedPart[]
}

/** Returns a crate without importable versions. */
export function refusedCrate(...refused: Parameters<typeof refusedPart>): SourceCrate {
  return { name: null, versions: [], refused: [refusedPart(...refused)] }
}

export interface ImportRequest {
  readonly source: string
  readonly as?: SourceKind
  /** The folder or URL of the `.crate` files, if they are not where the source says. */
  readonly crates?: string
  readonly names?: string
  readonly token?: string
  /** More index URLs that mean the source itself. */
  readonly sourceUrl?: readonly string[]
}

export interface OpenedSource {
  /** The kind of the source, for messages. */
  readonly description: string
  /** Every index URL that means the source itself. */
  readonly ownUrls: readonly string[]
  readonly total: number
  crates(): AsyncIterable<SourceCrate>
  close?(): Promise<void>
}

export interface Source extends OpenedSource {
  readonly kind: SourceKind
}
