import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, type Dirent, type Stats } from 'node:fs'
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import pLimit from 'p-limit'
import { writing } from './storage-fault.ts'

/** How names of half-written files begin; readers never show them. */
const TEMPORARY = '.writing-'

/** A name beside `path` for the file that will become it; short enough for any file system. */
export function temporaryPath(path: string): string {
  return join(dirname(path), `${TEMPORARY}${randomBytes(8).toString('hex')}`)
}

/** Whether a path belongs to a file that is still being written. */
export function isTemporary(path: string): boolean {
  return basename(path).startsWith(TEMPORARY)
}

/**
 * Replaces `path` with `bytes`; after a crash it has the old bytes or the new ones. They are on
 * disk on return.
 */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  await makeFolder(dirname(path))
  await replace(path, bytes, true)
  await syncFolder(dirname(path))
}

/** Replaces `path` with `bytes`, but leaves syncing to the caller: a power cut may spoil them. */
export async function writeAtomically(path: string, bytes: Uint8Array): Promise<void> {
  await inFolder(path, () => replace(path, bytes, false))
}

/** Puts the bytes of a file on disk. */
export async function syncFile(path: string): Promise<void> {
  // Windows flushes only what is open for writing; elsewhere reading is enough, and a `.crate` is
  // not writable.
  const file = await open(path, process.platform === 'win32' ? 'r+' : 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Does work on a file or folder, which may have been removed meanwhile. */
export async function unlessMissing(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isMissing(error)) throw error
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

/** Fails when nothing can be written in a folder, for whatever reason; leaves nothing behind. */
export async function probeFolder(path: string): Promise<void> {
  const probe = temporaryPath(join(path, 'probe'))
  try {
    const file = await open(probe, 'wx', 0o600)
    await file.close()
  } finally {
    await rm(probe, { force: true })
  }
}

/** Does work that needs the folder of `path`; makes the folder when it is missing. */
export async function inFolder<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await writing(() => mkdir(dirname(path), { recursive: true }))
    return work()
  }
}

/** Moves a finished, synced file to `path` and puts the move on disk. */
export async function moveDurably(from: string, path: string): Promise<void> {
  await makeFolder(dirname(path))
  await writing(() => rename(from, path))
  await syncFolder(dirname(path))
}

/** What `link` fails with where the file system cannot link these two. */
const UNLINKABLE = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS'])

/**
 * Makes `path` a hard link of `source`; false when there is something, or when the file system
 * cannot link.
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

/** Makes `path` a link as `linkNew` does, but replaces what is there. */
export async function linkOver(source: string, path: string): Promise<boolean> {
  const temporary = temporaryPath(path)
  if (!(await linkNew(source, temporary))) return false
  try {
    await rename(temporary, path)
  } finally {
    // A rename onto another link of the same file does nothing and leaves the first name in place
    // (POSIX).
    await rm(temporary, { force: true })
  }
  return true
}

/**
 * Removes what killed processes have left half-written in a folder; only those of before a
 * time, or all when nobody can be writing there.
 */
export async function sweepFolder(path: string, before = Number.POSITIVE_INFINITY): Promise<void> {
  for (const { name } of await readFolder(path)) {
    if (!isTemporary(name)) continue
    const file = join(path, name)
    const facts = await fileFacts(file)
    if (facts && facts.modified < before) await rm(file, { force: true })
  }
}

/** A text file; null when there is none. */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** What is in a folder; nothing when there is no such folder. */
export async function readFolder(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Creates a folder with its parents; each new one is on disk when this returns. */
export async function makeFolder(path: string): Promise<void> {
  const first = await writing(() => mkdir(path, { recursive: true }))
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made))
    await syncFolder(dirname(made))
}

/**
 * Does durable work for many files, 32 at a time, because a disk joins flushes; waits for all of
 * it.
 */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const limit = pLimit(32)
  const ends = await Promise.allSettled(items.map(item => limit(() => work(item))))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Puts the names in a folder on disk. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** What the file system knows of a file; `modified` in milliseconds since 1970. */
export interface FileFacts {
  readonly size: number
  readonly inode: bigint
  readonly device: bigint
  readonly modified: number
}

/** Size and identity of a file, or null when there is none; a folder is none. */
export async function fileFacts(path: string): Promise<FileFacts | null> {
  try {
    // Inode numbers of ReFS and of some network file systems need more than the 53 bits of a
    // number.
    const facts = await stat(path, { bigint: true })
    const { size, ino, dev, mtimeMs } = facts
    if (!facts.isFile()) return null
    return { size: Number(size), inode: ino, device: dev, modified: Number(mtimeMs) }
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Whether two paths lead to one file, as hard links do. */
export async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([fileFacts(path), fileFacts(other)])
  return one !== null && one.inode === two?.inode && one.device === two.device
}

/** SHA-256 of a file, lowercase hex; null when there is none. */
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

/** What there is at a path, links followed; null when there is nothing. */
export async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Whether an error says that there is a folder where a file was to be read. */
export function isFolder(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EISDIR'
}

/** Whether an error says that a file or folder is not there. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}
