// generator/places/disk: The file system, and what a crash leaves. Rooms that write to a disk
// call it; it never knows a crate.
//
// How something gets on disk, as everywhere in the program:
// 1. A file is written under a temporary name, and renamed: a reader finds the old one or the new.
// 2. Its bytes are synced, and the folder that has its name, and the folder of a new folder.
// 3. Only then something that refers to it, or a record that it is done, may be written.
// A file that is replaced is synced before it is renamed; one that nobody refers to yet, or that a
// mark has rendered again, is synced behind it, together with others.
// After a failed sync the system may drop what it could not write and report success from then on,
// so the files are replaced by new ones before they are synced again.
import { execFile } from 'node:child_process'
import { closeSync, fsync, lstatSync, openSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'
import { forEachConcurrently } from '../../../core/async/concurrently.ts'
import { disk } from './disk.ts'
import { writing } from './fault.ts'
import { steps, temporaryPath } from './steps.ts'

const IS_WINDOWS = process.platform === 'win32'

/**
 * Windows flushes only files opened for writing. Elsewhere a read-only handle is enough, and a
 * `.crate` is not writable.
 */
const FOR_SYNC = IS_WINDOWS ? 'r+' : 'r'

/** Runs the step that shows a file, when and if it may be shown. */
export type Exclusive = (show: () => Promise<void>) => Promise<void>

/**
 * Replaces `path` with `bytes` and syncs them; after a crash it has either the old or the new
 * bytes. `exclusive` runs the last step, or leaves it out, and then everything is as before.
 */
export async function writeDurably(
  path: string,
  bytes: Uint8Array,
  mode = 0o644,
  exclusive: Exclusive = show => show(),
): Promise<void> {
  await makeFolder(dirname(path))
  const temporary = temporaryPath(path)
  try {
    await writing(async () => {
      // Not by the disk's thread, which a daemon that is only asked whether it is ready never starts.
      const file = await open(temporary, 'wx', mode)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await exclusive(() => rename(temporary, path))
    })
  } finally {
    await rm(temporary, { force: true })
  }
  await syncFolder(dirname(path))
}

/** Creates a folder and its missing parents, and syncs each of them to disk. */
export async function makeFolder(path: string): Promise<void> {
  const made = await writing(async () => steps.makeFolders(resolve(path)))
  for (const folder of made) await syncFolder(dirname(folder))
}

/** Syncs a file to disk. */
export function syncFile(path: string): Promise<void> {
  return syncOpened(path, FOR_SYNC)
}

/** Syncs a folder's entries to disk; does nothing on Windows. */
export async function syncFolder(path: string): Promise<void> {
  if (!IS_WINDOWS) await syncOpened(path, 'r')
}

async function syncOpened(path: string, flags: string): Promise<void> {
  const opened = await open(path, flags)
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}

/** Folders to sync; when each was made, which tells it from one that is made in its place later. */
export type Folders = Map<string, string | null>

/** The folders whose names this process has synced. */
const named = new LRUCache<string, string>({ max: 10_000 })

/** Adds a folder in which a name is new, and those above up to `top` whose own names may be. */
export function addFolders(folders: Folders, path: string, top: string): void {
  if (IS_WINDOWS) return
  for (let folder = path; !folders.has(folder); folder = dirname(folder)) {
    const made = whenMade(folder)
    folders.set(folder, made)
    if (folder.length <= top.length || (made !== null && named.get(folder) === made)) break
  }
}

/** Records that folders are synced, with the names in them; some may be new since they were added. */
export function recordNamed(folders: Folders): void {
  for (const [folder, before] of folders) {
    const made = before ?? whenMade(folder)
    if (made !== null) named.set(folder, made)
  }
}

/** Null where the system does not know, and for a folder that is not there yet. */
function whenMade(folder: string): string | null {
  // Not by the thread pool: the way there takes longer than this.
  const stats = lstatSync(folder, { bigint: true, throwIfNoEntry: false })
  return stats?.birthtimeNs ? `${stats.dev} ${stats.ino} ${stats.birthtimeNs}` : null
}

/** Syncs open files and folders to disk, together, and closes them. */
export async function syncDescriptors(descriptors: readonly number[]): Promise<void> {
  try {
    await forEachConcurrently(descriptors, promisify(fsync))
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

/** With more files, one `sync` of the whole file system takes less time than one for each. */
const MANY = 1000

/** Files that failed to be synced, and are not replaced yet. */
const unsynced = new Set<string>()

/** Syncs files and folders that were written, together; skips those that are missing. */
export async function syncChanges(
  files: readonly string[],
  folders: readonly string[],
): Promise<void> {
  await renew(files)
  try {
    const whole = files.length > MANY ? await syncFileSystems(folders) : 'impossible'
    if (whole === 'failed') await renewAll(files)
    if (whole === 'synced') return
    await syncAll(files, FOR_SYNC)
    await syncAll(folders, 'r')
  } catch (error) {
    // At once, because the process may not live until it is tried again.
    await renewAll(files).catch(() => undefined)
    throw error
  }
}

/** Replaces files that failed to be synced; those that cannot be are replaced later. */
async function renewAll(files: readonly string[]): Promise<void> {
  for (const path of files) unsynced.add(path)
  await renew(files)
}

/** Replaces the files among these that failed to be synced, and are not replaced yet. */
async function renew(files: readonly string[]): Promise<void> {
  const failed = files.filter(path => unsynced.has(path))
  await forEachConcurrently(failed, async path => {
    await disk.run('renew', path)
    unsynced.delete(path)
  })
}

/** The most files that are open at a time to be synced. */
const OPEN_MAX = 64

async function syncAll(paths: readonly string[], flags: 'r' | 'r+'): Promise<void> {
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
