import { open, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isMissing, makeFolder, readText, temporaryPath } from '../../store/durable-file.ts'

/**
 * Replaces a derived file atomically, if it differs; not flushed: every start compares it again.
 */
export async function replaceDerived(file: string, text: string): Promise<void> {
  if ((await readText(file)) === text) return
  await makeFolder(dirname(file))
  const temporary = temporaryPath(file)
  await writeFile(temporary, text, { flag: 'wx' })
  await rename(temporary, file)
}

/** Puts a file's bytes, or the names in a folder, on disk. */
export async function syncIfThere(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(absent)
  try {
    await handle?.sync()
  } finally {
    await handle?.close()
  }
}

/** The same for many, 64 at a time: the disk joins flushes, and open files are limited. */
export async function syncTogether(paths: readonly string[]): Promise<void> {
  for (let i = 0; i < paths.length; i += 64)
    await Promise.all(paths.slice(i, i + 64).map(syncIfThere))
}

/** The names in a folder; none when there is no such folder. */
export async function listIfThere(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(absent)) ?? []
}

/** When a file was last written, in milliseconds since 1970. */
export async function modified(path: string): Promise<number | null> {
  return await stat(path).then(one => one.mtimeMs, absent)
}

/** A file that is not there is an answer; any other failure is not. */
function absent(error: unknown): null {
  if (isMissing(error)) return null
  throw error
}
