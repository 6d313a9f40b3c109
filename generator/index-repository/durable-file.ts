import { mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file in one step and for good. */
export async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { flush: true })
  await rename(`${file}.new`, file)
}

/** Replaces a derived file in one step, if it differs; not flushed, because it is compared again at every start. */
export async function replaceDerived(file: string, text: string): Promise<void> {
  if ((await readIfThere(file)) === text) return
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
}

/** Flushes files or folders to the disk; git itself flushes no folder, so a rename could be lost with the power. */
export async function syncPaths(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const handle = await open(path, 'r').catch(absent)
    if (!handle) continue
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

export async function modified(path: string): Promise<number | null> {
  return await stat(path).then(one => one.mtimeMs, absent)
}

export async function readIfThere(path: string): Promise<string | null> {
  return await readFile(path, 'utf8').catch(absent)
}

export async function listIfThere(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(absent)) ?? []
}

/** A file that is not there is an answer; any other failure is not. */
function absent(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
