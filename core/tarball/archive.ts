import type { Issue } from '../error/error.ts'
import type { Name } from '../name.ts'
import type { Version } from '../version.ts'

/** Bounds of what is read out of one `.crate`. */
export interface ArchiveLimits {
  /** Most bytes of the unpacked tar stream, headers and padding included. */
  readonly unpackedBytes: number
  /** Most files and folders. */
  readonly entries: number
  /** Largest `Cargo.toml`. */
  readonly manifestBytes: number
  /** Largest README that is taken along. */
  readonly readmeBytes: number
}

/** One regular file of a crate. */
export interface ArchiveFile {
  /** Path below the top folder. */
  readonly path: string
  readonly size: number
}

/** What a `.crate` holds, without the bytes. */
export interface Archive {
  readonly name: Name
  readonly version: Version
  /** Text of the root `Cargo.toml`. */
  readonly manifest: string
  /** All regular files, in the order of the archive. */
  readonly files: readonly ArchiveFile[]
  /** Length of the unpacked tar stream. */
  readonly unpackedBytes: number
  /** Folder of the crate in its repository (`path_in_vcs` of `.cargo_vcs_info.json`), `''` for the root; null if unknown. */
  readonly vcsPath: string | null
  /** What is worth telling although the archive is fine. */
  readonly warnings: readonly Issue[]
}
