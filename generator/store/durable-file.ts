import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, type Dirent, type Stats } from 'node:fs'
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import pLimit from 'p-limit'
import { writing } from './storage-fault.ts'

/** The prefix of half-written files; readers never see them. */
const TEMPORARY = '.writing-'

/** Returns a temporary path next to `path`, with a name short enough for any file system. */
export function temporaryPath(path: string): string {
  return join(dirname(path), `${TEMPORARY}${randomBytes(8).toString('hex')}`)
}

/** Returns whether a path is the temporary name of a file that is still being written. */
export function isTemporary(path: string): boolean {
  return basename(path).startsWith(TEMPORARY)
}

/**
 * Replaces `path` with `bytes` and syncs them; after a crash it has either the old or the new
 * bytes.
 */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  await makeFolder(dirname(path))
  await replace(path, bytes, true)
  await syncFolder(dirname(path))
}

/**
 * Replaces `path` with `bytes`; the caller syncs them, and until then a power cut may spoil them.
 */
export async function writeAtomically(path: string, bytes: Uint8Array): Promise<void> {
  await inFolder(path, () => replace(path, bytes, false))
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

async function replace(path: string, bytes: Uint8Array, sync: boolean): Promise<void> {
  const temporary = temporaryPath(path)
  try {
    await writing(async () => {
      const file = await open(temporary, 'wx', 0o644)
      try {
        await file.writeFile(bytes)
        if (sync) await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, path)
    })
  } catch (error) {
    await rm(temporary, { force: true })
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

/** Runs `work`, which needs the folder of `path`; creates the folder when it is missing. */
export async function inFolder<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await writing(() => mkdir(dirname(path), { recursive: true }))
    return work()
  }
}

/** Moves a finished, synced file to `path` and syncs the target folder. */
export async function moveDurably(from: string, path: string): Promise<void> {
  await makeFolder(dirname(path))
  await writing(() => rename(from, path))
  await syncFolder(dirname(path))
}

/** The error codes of `link` when the file system cannot link two files. */
const UNLINKABLE = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS'])

/**
 * Creates `path` as a hard link to `source`; returns false when `path` exists or cannot be linked.
 */
export function linkNew(source: string, path: string): Promise<boolean> {
  return inFolder(path, async () => {
    try {
      await writing(() => link(source, path))
      return true
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'EEXIST' || UNLINKABLE.has(code)) return false
      throw error
    }
  })
}

/** Creates a hard link as `linkNew` does, but replaces an existing file. */
export async function linkOver(source: string, path: string): Promise<boolean> {
  const temporary = temporaryPath(path)
  if (!(await linkNew(source, temporary))) return false
  try {
    await rename(temporary, path)
  } finally {
    // Renaming a file onto another hard link to it does nothing and keeps the old name (POSIX).
    await rm(temporary, { force: true })
  }
  return true
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
  const first = await writing(() => mkdir(path, { recursive: true }))
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made))
    await syncFolder(dirname(made))
}

/**
 * Runs `work` for many files, 32 at a time, because a disk combines flushes; waits for all of it
 * even when some fails.
 */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const limit = pLimit(32)
  const ends = await Promise.allSettled(items.map(item => limit(() => work(item))))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
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

/** Returns whether two paths refer to the same file, as hard links do. */
export async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([fileFacts(path), fileFacts(other)])
  return one !== null && one.inode === two?.inode && one.device === two.device
}

/** Returns the SHA-256 of a file in lowercase hex; null when there is no such file. */
export async function fileChecksum(path: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk)
  } catch (error) {
    if (isMissing(error) || isFolder(error)) return null
    throw error
  }
  return hash.digest('hex')
}

/** Returns the metadata of whatever is at a path, following links; null when there is nothing. */
export function statOf(path: string): Promise<Stats | null> {
  return unlessMissing(stat(path))
}

/** Returns whether an error means that a folder is in the place of the file to read. */
export function isFolder(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EISDIR'
}

/** Returns whether an error means that a file or folder does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}
