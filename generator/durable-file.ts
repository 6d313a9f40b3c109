import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** How names of half-written files begin; readers never show them and `sweep` may remove them. */
export const TEMPORARY = '.writing-'

/** A name beside `path` for the file that will become it; short enough for any file system. */
export function temporaryPath(path: string): string {
  return join(dirname(path), `${TEMPORARY}${randomBytes(8).toString('hex')}`)
}

/** Whether a path belongs to a file that is still being written. */
export function isTemporary(path: string): boolean {
  return basename(path).startsWith(TEMPORARY)
}

/** Replaces `path` with `bytes`; after a crash it has the old bytes or the new ones, whole. On return they are on disk. */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  await makeFolder(dirname(path))
  const temporary = temporaryPath(path)
  try {
    const file = await open(temporary, 'wx', 0o644)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/** Moves a finished, synced file to `path` and puts the move on disk. */
export async function moveDurably(from: string, path: string): Promise<void> {
  await makeFolder(dirname(path))
  await rename(from, path)
  await syncFolder(dirname(path))
}

/** Makes `path` a hard link of `source`, replacing what was there; false when the file system cannot link. */
export async function linkDurably(source: string, path: string): Promise<boolean> {
  await makeFolder(dirname(path))
  const temporary = temporaryPath(path)
  try {
    await link(source, temporary)
  } catch (error) {
    if (['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
  try {
    await rename(temporary, path)
  } finally {
    // A rename onto another link of the same file does nothing and leaves the first name in place (POSIX).
    await rm(temporary, { force: true })
  }
  await syncFolder(dirname(path))
  return true
}

/** Creates a folder with its parents; each new one is on disk when this returns. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
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

/** Size and identity of a file, or null when there is none. */
export async function fileFacts(path: string): Promise<{ size: number; inode: number; device: number } | null> {
  try {
    const facts = await stat(path)
    return { size: facts.size, inode: facts.ino, device: facts.dev }
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Whether an error says that a file or folder is not there. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}
