import type { Issue } from '../error/error.ts'
import type { Name } from '../name.ts'
import type { Version } from '../version.ts'

/** Limits on what is read out of one `.crate`. */
export interface ArchiveLimits {
  /** Most bytes of the unpacked tar stream, headers and padding included. */
  readonly unpackedBytes: number
  /** Most files and folders. */
  readonly entries: number
  /** Largest `Cargo.toml`. */
  readonly manifestBytes: number
  /** Largest README that is read. */
  readonly readmeBytes: number
  /** Whether a second `Cargo.toml` with the same bytes is accepted; by default not. */
  readonly duplicateManifest?: boolean
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
  /** `path_in_vcs`: the crate's folder in its repository, `''` for the root; null if unknown. */
  readonly vcsPath: string | null
  /** Warnings about an archive that is accepted. */
  readonly warnings: readonly Issue[]
}
