import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  type Dirent,
  existsSync,
  fsync,
  openSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import pLimit from 'p-limit'
import { sha256Of } from '../../core/sha256.ts'
import { disk } from './disk/disk.ts'
import { isTemporary, temporaryPath } from './disk/steps.ts'
import { writing } from './storage-fault.ts'

/**
 * Replaces `path` with `bytes` and syncs them; after a crash it has either the old or the new
 * bytes.
 */
export async function writeDurably(path: string, bytes: Uint8Array, mode = 0o644): Promise<void> {
  await makeFolder(dirname(path))
  const temporary = temporaryPath(path)
  try {
    await writing(async () => {
      const file = await open(temporary, 'wx', mode)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, path)
    })
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/** Syncs a file to disk. */
export async function syncFile(path: string): Promise<void> {
  // Windows flushes only files opened for writing. Elsewhere a read-only handle is enough, and a
  // `.crate` is not writable.
  const file = await open(path, process.platform === 'win32' ? 'r+' : 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Waits for `work` on a file or folder; returns null when there is no such thing. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Throws when a folder cannot be written to, for whatever reason; leaves no file behind. */
export async function probeFolder(path: string): Promise<void> {
  const probe = temporaryPath(join(path, 'probe'))
  try {
    const file = await open(probe, 'wx', 0o600)
    await file.close()
  } finally {
    await rm(probe, { force: true })
  }
}

/** Moves a finished, synced file to `path` and syncs the target folder. */
export async function moveDurably(from: string, path: string): Promise<void> {
  await makeFolder(dirname(path))
  await writing(() => rename(from, path))
  await syncFolder(dirname(path))
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

/** Reads a text file; returns null when there is none. */
export function readText(path: string): Promise<string | null> {
  return unlessMissing(readFile(path, 'utf8'))
}

/** Returns the entries of a folder; an empty list when there is no such folder. */
export async function readFolder(path: string): Promise<Dirent[]> {
  return (await unlessMissing(readdir(path, { withFileTypes: true }))) ?? []
}

/** Creates a folder and its missing parents, and syncs each of them to disk. */
export async function makeFolder(path: string): Promise<void> {
  const whole = resolve(path)
  const first = await writing(() => mkdir(whole, { recursive: true }))
  if (first === undefined) return
  for (let made = whole; made.length >= first.length; made = dirname(made))
    await syncFolder(dirname(made))
}

/** The most files that are worked on at a time. */
const PARALLEL = 32

/**
 * Runs `work` for many files, 32 at a time, because a disk combines flushes; waits for all of it
 * even when some fails.
 */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const limit = items.length > PARALLEL ? pLimit(PARALLEL) : null
  const ends = await Promise.allSettled(
    items.map(item => (limit ? limit(() => work(item)) : work(item))),
  )
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** The most files that are open at a time to be synced. */
const OPEN_MAX = 64

/** Syncs files or folders to disk, many together; skips those that are missing. */
export async function syncAll(paths: readonly string[], what: 'file' | 'folder'): Promise<void> {
  const isWindows = process.platform === 'win32'
  if (isWindows && what === 'folder') return
  // Windows flushes only files opened for writing. Elsewhere a `.crate` is not writable.
  const flags = isWindows ? 'r+' : 'r'
  for (let at = 0; at < paths.length; at += OPEN_MAX)
    await syncDescriptors(await disk.run('open', paths.slice(at, at + OPEN_MAX), flags))
}

/**
 * Syncs everything on the file systems of some folders to disk, by the `sync` of GNU or BusyBox.
 * Returns what became of it; after a failure nobody knows what is on disk.
 */
export async function syncFileSystems(
  folders: readonly string[],
): Promise<'synced' | 'failed' | 'impossible'> {
  if (process.platform !== 'linux') return 'impossible'
  const places = await disk.run('onePerFileSystem', folders)
  return new Promise(resolve => {
    execFile('sync', ['-f', ...places], (error, _, complaint) => {
      if (error === null) return resolve('synced')
      const isUnknown = error.code === 'ENOENT' || /option|usage/i.test(complaint)
      resolve(isUnknown ? 'impossible' : 'failed')
    })
  })
}

/** Syncs open files and folders to disk, together, and closes them. */
export async function syncDescriptors(descriptors: readonly number[]): Promise<void> {
  try {
    await inParallel(descriptors, syncDescriptor)
  } finally {
    for (const one of descriptors) closeSync(one)
  }
}

function syncDescriptor(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(descriptor, error => (error ? reject(error) : resolve()))
  })
}

/** Syncs a folder's entries to disk; does nothing on Windows. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
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

/** Returns the SHA-256 of a file in lowercase hex; null when there is no such file. */
export async function fileChecksum(path: string): Promise<string | null> {
  try {
    return await sha256Of(createReadStream(path))
  } catch (error) {
    if (isMissing(error) || isFolder(error)) return null
    throw error
  }
}

/** Opens a file, or a part of it, to be read to its end or destroyed; null when there is none. */
export async function openFile(path: string, range?: { start: number; end: number }) {
  const file = await unlessMissing(open(path))
  return file && { size: (await file.stat()).size, bytes: file.createReadStream(range) }
}

/** Returns the metadata of whatever is at a path, following links; null when there is nothing. */
export function statOf(path: string): Promise<Stats | null> {
  return unlessMissing(stat(path))
}

/** Returns whether an error means that a folder is in the place of the file to read. */
export function isFolder(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EISDIR'
}

/** Reads a file; returns null when there is none. */
export async function readBytes(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isMissing(error) || isFolder(error)) return null
    throw error
  }
}

/** Returns whether an error means that a file or folder does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
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

/** Returns a checksum of bytes in lowercase hex. */
export function sumOf(algorithm: 'md5' | 'sha256', bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex')
}

/** Whether a path, at which nothing need be yet, is a folder or inside it, also through links. */
export function isInside(path: string, folder: string): boolean {
  return realOf(path).startsWith(realOf(folder))
}

/** Returns a path without symbolic links, and with a separator at its end. */
export function realOf(path: string): string {
  let above = path
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above)
  const real = join(existsSync(above) ? realpathSync(above) : above, relative(above, path))
  return real.endsWith(sep) ? real : real + sep
}

/**
 * Creates an empty file, unless there is one, that only its owner can read; SQLite gives the files
 * next to it, such as the WAL, the same permissions. An existing file is never opened here: closing
 * it would drop all locks that this process has on it (POSIX), and then another process that closes
 * the database would delete the WAL under our connections.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
