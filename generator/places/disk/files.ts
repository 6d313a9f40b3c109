import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { type FileHandle, open, readdir, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { sha256Of } from '../../../core/sha256.ts'
import { isMissing, isTaken, isTemporary } from './steps.ts'

/** Waits for `work` on a file or folder; returns null when there is no such thing. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Metadata of a file; `modified` is in milliseconds since 1970. */
export interface FileStats {
  readonly size: number
  readonly modified: number
}

/** Returns the metadata of a file; null when there is none. A folder is not a file. */
export async function fileStats(path: string): Promise<FileStats | null> {
  const stats = await statOf(path)
  return stats?.isFile() ? { size: stats.size, modified: stats.mtimeMs } : null
}

/** Returns the metadata of whatever is at a path, following links; null when there is nothing. */
export function statOf(path: string): Promise<Stats | null> {
  return unlessMissing(stat(path))
}

/** With it, opening a pipe does not wait for a writer, so that pipes can be refused. */
const FOR_READING = constants.O_RDONLY | constants.O_NONBLOCK

/** The longest text that is read unless its reader says more, and the largest file: a `.crate`. */
export const TEXT_MAX = 8 * 1024 ** 2
export const BYTES_MAX = 1024 ** 3

/** Opens a file; null when there is none. Refuses what is no file, and more than `max` bytes. */
async function openToRead(path: string, max: number): Promise<FileHandle | null> {
  const file = await unlessMissing(open(path, FOR_READING))
  try {
    if (file) requireReadable(path, await file.stat(), max)
    return file
  } catch (error) {
    await file?.close()
    throw error
  }
}

function requireReadable(path: string, stats: Stats, max: number): void {
  if (stats.isDirectory()) refuse('file_folder', { path })
  if (!stats.isFile()) refuse('file_special', { path })
  if (stats.size > max) refuse('import_too_long', { what: path, max })
}

/** Reads a file; returns null when there is none. Refuses what is longer, or not a file. */
export async function readBytes(path: string, max = BYTES_MAX): Promise<Buffer | null> {
  const file = await openToRead(path, max)
  try {
    return file && (await file.readFile())
  } finally {
    await file?.close()
  }
}

/** Reads a text file; returns null when there is none. Refuses what is longer, or not a file. */
export async function readText(path: string, max = TEXT_MAX): Promise<string | null> {
  return (await readBytes(path, max))?.toString('utf8') ?? null
}

/** Does the same as `readText` at once, as settings are read. Refuses a folder or a dangling link. */
export function readTextSync(path: string, max = TEXT_MAX): string | null {
  if (!isTaken(path)) return null
  if (!existsSync(path)) refuse('file_missing', { path })
  const file = openSync(path, FOR_READING)
  try {
    requireReadable(path, fstatSync(file), max)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Does the same as `readTextSync` with a file that a setting names; refuses a missing one. */
export function readNamedSync(path: string): string {
  return readTextSync(path) ?? refuse('file_missing', { path })
}

/** Yields the bytes of a file; refuses what is none. */
export async function* fileBytes(path: string): AsyncGenerator<Buffer> {
  const opened = await openFile(path)
  yield* opened?.bytes ?? refuse('file_missing', { path })
}

/** Returns the entries of a folder; an empty list when there is no such folder. */
export async function readFolder(path: string): Promise<Dirent[]> {
  return (await unlessMissing(readdir(path, { withFileTypes: true }))) ?? []
}

/** Opens a file, or a part of it, to be read to its end or destroyed; null when there is none. */
export async function openFile(path: string, range?: { start: number; end: number }) {
  const file = await openToRead(path, Number.POSITIVE_INFINITY)
  return file && { size: (await file.stat()).size, bytes: file.createReadStream(range) }
}

/** Returns the SHA-256 of a file in lowercase hex; null when there is no such file. */
export async function fileChecksum(path: string): Promise<string | null> {
  const opened = await openFile(path)
  return opened && sha256Of(opened.bytes)
}

/** Returns whether a file has this SHA-256; null when there is none. Reads none with more bytes. */
export async function hasChecksum(
  path: string,
  most: number,
  cksum: string,
): Promise<boolean | null> {
  const stats = await fileStats(path)
  return stats && stats.size <= most && (await fileChecksum(path)) === cksum
}

/** Returns a checksum of bytes in lowercase hex. */
export function sumOf(algorithm: 'md5' | 'sha256', bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex')
}

/** Removes a folder if it is empty; returns whether it is gone. */
export async function removeIfEmpty(path: string): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch (error) {
    if (isMissing(error)) return true
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** Half-written files are those of killed processes when they are so old, in milliseconds. */
const STALE_MS = 3_600_000

/** Yields the half-written files of killed processes below a folder, or directly in it. */
export async function* halfWritten(folder: string, isFlat = false): AsyncGenerator<string> {
  for (const entry of await readFolder(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && !isFlat) yield* halfWritten(path)
    const stats = isTemporary(entry.name) ? await fileStats(path) : null
    if (stats && Math.abs(Date.now() - stats.modified) >= STALE_MS) yield path
  }
}

/** Removes the half-written files of killed processes below a folder, or directly in it. */
export async function sweepFolder(folder: string, isFlat = false): Promise<void> {
  for await (const path of halfWritten(folder, isFlat)) await rm(path, { force: true })
}

/** Whether a path, at which nothing need be yet, is a folder or inside it, also through links. */
export function isInside(path: string, folder: string): boolean {
  return realOf(path).startsWith(realOf(folder))
}

/** Returns a path without symbolic links, and with a separator at its end. */
function realOf(path: string): string {
  let above = path
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above)
  const real = join(existsSync(above) ? realpathSync(above) : above, relative(above, path))
  return real.endsWith(sep) ? real : real + sep
}
