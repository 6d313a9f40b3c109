import { createHash } from 'node:crypto'
import { createReadStream, type Dirent, existsSync, realpathSync, type Stats } from 'node:fs'
import { open, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { sha256Of } from '../../../core/sha256.ts'
import { isMissing, isTemporary } from './steps.ts'

/** Waits for `work` on a file or folder; returns null when there is no such thing. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Waits for `work` on a file; returns null when there is none, but perhaps a folder. */
async function unlessNoFile<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await unlessMissing(work)
  } catch (error) {
    if (isFolder(error)) return null
    throw error
  }
}

/** Returns whether an error means that a folder is in the place of the file to read. */
export function isFolder(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EISDIR'
}

/** Metadata of a file; `modified` is in milliseconds since 1970. */
export interface FileFacts {
  readonly size: number
  readonly inode: bigint
  readonly device: bigint
  readonly modified: number
}

/** Returns the metadata of a file; null when there is none. A folder is not a file. */
export async function fileFacts(path: string): Promise<FileFacts | null> {
  // Inode numbers of ReFS and some network file systems exceed the 53 bits of a number.
  const facts = await unlessMissing(stat(path, { bigint: true }))
  if (!facts?.isFile()) return null
  const { size, ino: inode, dev: device, mtimeMs } = facts
  return { size: Number(size), inode, device, modified: Number(mtimeMs) }
}

/** Returns the metadata of whatever is at a path, following links; null when there is nothing. */
export function statOf(path: string): Promise<Stats | null> {
  return unlessMissing(stat(path))
}

/** Reads a text file; returns null when there is none. */
export function readText(path: string): Promise<string | null> {
  return unlessMissing(readFile(path, 'utf8'))
}

/** Reads a file; returns null when there is none. */
export function readBytes(path: string): Promise<Buffer | null> {
  return unlessNoFile(readFile(path))
}

/** Returns the entries of a folder; an empty list when there is no such folder. */
export async function readFolder(path: string): Promise<Dirent[]> {
  return (await unlessMissing(readdir(path, { withFileTypes: true }))) ?? []
}

/** Opens a file, or a part of it, to be read to its end or destroyed; null when there is none. */
export async function openFile(path: string, range?: { start: number; end: number }) {
  const file = await unlessMissing(open(path))
  return file && { size: (await file.stat()).size, bytes: file.createReadStream(range) }
}

/** Returns the SHA-256 of a file in lowercase hex; null when there is no such file. */
export function fileChecksum(path: string): Promise<string | null> {
  return unlessNoFile(sha256Of(createReadStream(path)))
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

/**
 * Removes half-written files of killed processes from a folder: those last modified before
 * `before`, or all of them, for a caller that is the only writer.
 */
export async function sweepFolder(path: string, before = Number.POSITIVE_INFINITY): Promise<void> {
  for (const { name } of await readFolder(path)) {
    if (!isTemporary(name)) continue
    const file = join(path, name)
    const facts = await fileFacts(file)
    if (facts && facts.modified < before) await rm(file, { force: true })
  }
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
