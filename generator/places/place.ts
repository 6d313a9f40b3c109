// generator/places: Where files are kept: folders and buckets. Rooms that keep files call it; it
// never knows what they mean.
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { sha256 } from '../../core/sha256.ts'
import { sumOf } from './disk/files.ts'
import { refuseForeign } from './s3/failure.ts'

/** A file as a place lists it, without reading it. */
export interface FileInfo {
  readonly path: string
  readonly size: number
  /** Identifies these bytes at this path; null where they would have to be read for that. */
  readonly etag: string | null
  /** When it was last changed, in milliseconds since 1970, by the clock of its storage. */
  readonly changed: number
}

/** A file that is being read; a removal no longer affects it. */
export interface OpenFile {
  /** The size of the whole. */
  readonly size: number
  /** The caller reads it to its end or destroys it. */
  readonly bytes: Readable
}

/** A file that was read. */
export interface Content {
  readonly bytes: Buffer
  /** Identifies these bytes at this path; in quotes, as in HTTP. */
  readonly etag: string
}

/** The first and the last byte of a part. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The paths between two texts of ASCII characters, neither of which is a path. */
export interface PathRange {
  readonly after: string
  readonly before: string
}

/** A file of this machine whose bytes never change: a folder may have it under another name. */
export interface LocalFile {
  readonly path: string
  readonly size: number
}

/** How a file is written. */
export interface PutOptions {
  /** SHA-256 of the content in hex, if it is known; needed of a file for a bucket. */
  readonly cksum?: string
  /** Written only where there is no file, or the one with this ETag. */
  readonly onlyIf?: 'absent' | { readonly etag: string }
}

/**
 * Where files are kept: a folder or a bucket. Paths have `/` between their parts. What readers of a
 * bucket are told of a file, its type and cache rule, is told by its path (`core/paths/tree.ts`).
 */
export interface Place {
  /** For operators: the folder, or the address of the bucket. */
  readonly name: string
  /** Returns what is known of a file; null when there is none. */
  head(path: string): Promise<{ readonly size: number } | null>
  /** Returns the SHA-256 of a file in hex, null when there is none, or nobody has noted it. */
  checksum(path: string): Promise<string | null>
  /** Opens a file, or a part of it; null when there is none. */
  open(path: string, range?: ByteRange): Promise<OpenFile | null>
  /** Reads a file; null when there is none. Fails when it has more than `max` bytes. */
  read(path: string, max?: number): Promise<Content | null>
  /** Lists the files whose paths begin with `start`, or those of a range, in no particular order. */
  list(start?: string, range?: PathRange): AsyncIterable<FileInfo>
  /** Writes a file, whole or not at all. Returns its ETag; null if the condition does not hold. */
  put(path: string, content: Uint8Array | LocalFile, options?: PutOptions): Promise<string | null>
  /** Removes a file; does nothing when there is none. */
  remove(path: string): Promise<void>
  /** Returns where a file is on this machine; a bucket does not have that. */
  local?(path: string): string
  /** Returns an address at which anybody may read a file for `seconds`; a folder has none. */
  presigned?(path: string, seconds: number): Promise<string>
}

/** Refuses a storage that says of a file that cannot be there that it is. */
export async function probePlace(place: Pick<Place, 'head'>): Promise<void> {
  if (await place.head(`probe-${randomUUID()}`))
    refuseForeign('HEAD 200 for a file that is not there')
}

/** Returns whether a file that a place has listed has these bytes. */
export async function hasBytes(place: Place, file: FileInfo, bytes: Buffer): Promise<boolean> {
  if (file.size !== bytes.byteLength) return false
  // The ETag of an object is its MD5 if it has neither parts nor a key of its own.
  if (file.etag === `"${sumOf('md5', bytes)}"`) return true
  return (await place.checksum(file.path)) === sha256(bytes)
}
