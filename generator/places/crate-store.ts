import type { Readable } from 'node:stream'

/** The bytes of a `.crate`, wherever they are stored. */
export interface CrateBytes {
  readonly size: number
  /** SHA-256, lowercase hex. */
  readonly cksum: string
  /** The bytes, or the file that contains them. */
  readonly content: Uint8Array | string
}

/** Received bytes that the caller has yet to keep or discard. */
export interface Staged extends CrateBytes {
  /** Stores them durably as the content of `key`. */
  keep(key: string): Promise<void>
  /** Deletes them; does nothing after `keep`. */
  discard(): Promise<void>
}

/** The first and the last byte of a part. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Stores `.crate` bytes by key. Keys contain the checksum of their content, so what a key has never
 * changes, a repeated publish writes the same bytes, and an orphan never blocks a publish.
 */
export interface CrateStore {
  /** Where the bytes are, for operators: a folder or the address of a bucket. */
  readonly place: string
  /** Receives and hashes bytes; refuses them as soon as there are more than `maxBytes`. */
  stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Staged>
  /** Throws when the store cannot be used. */
  probe(): Promise<void>
  /** Returns the path of a key's file, which may be missing; null when bytes are not in files. */
  path(key: string): string | null
  /** Returns a file of this machine with a key's bytes, for ten minutes; null without bytes. */
  localFile(key: string): Promise<LocalFile | null>
  /** Returns the size of a key's bytes; null when there are none. */
  size(key: string): Promise<number | null>
  /** Reads a key's bytes and returns their SHA-256 in lowercase hex; null when there are none. */
  checksum(key: string): Promise<string | null>
  /** Opens a key's bytes, or a part of them; null when there are none. */
  open(key: string, range?: ByteRange): Promise<OpenBytes | null>
  /** Returns an address to read a key's bytes for `seconds`; null when they are not in a bucket. */
  presigned(key: string, seconds: number): Promise<string | null>
  /** Removes a key's bytes; does nothing when there are none. */
  remove(key: string): Promise<void>
  /** Moves a key's bytes to where `add` can restore them from; returns that place. */
  setAside(key: string): Promise<string>
  /** Lists every key, in no particular order; skips what else is there. */
  list(): AsyncIterable<string>
  /** Removes partial uploads of killed processes. */
  sweep(): Promise<void>
}

/** A file with the bytes of a `.crate`. */
export interface LocalFile {
  readonly path: string
  readonly size: number
}

/** Bytes that are being read; a removal no longer affects them. */
export interface OpenBytes {
  /** The size of the whole. */
  readonly size: number
  /** To be read to its end or destroyed. */
  readonly bytes: Readable
}
