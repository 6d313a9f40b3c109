import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { readFolder, statOf, unlessMissing } from './files.ts'

/**
 * Returns the file at `source`, or every `.crate` below that folder, sorted. Follows links, and goes
 * into each folder once; includes links that lead nowhere, for their readers to complain. Skips the
 * folder with the real path `except`. Refuses a folder without any `.crate`.
 */
export async function findCrates(source: string, except?: string): Promise<string[]> {
  const paths = await listCrates(source, except)
  if (paths.length === 0) refuse('no_crates_found', { path: source })
  return paths
}

/** Does the same as `findCrates`, but allows a folder without any `.crate`. */
export async function listCrates(source: string, except?: string): Promise<string[]> {
  const stats = await statOf(source)
  if (!stats) refuse('file_missing', { path: source })
  if (stats.isFile()) return [source]
  if (!stats.isDirectory()) refuse('file_special', { path: source })
  return (await below(source, new Set(except === undefined ? [] : [except]))).sort()
}

async function below(folder: string, seen: Set<string>): Promise<string[]> {
  const real = await unlessMissing(realpath(folder))
  if (real === null || seen.has(real)) return []
  seen.add(real)
  const paths: string[] = []
  for (const entry of await readFolder(folder)) {
    const path = join(folder, entry.name)
    const isCrate = entry.name.endsWith('.crate')
    const kind = isCrate || entry.isSymbolicLink() ? await statOf(path) : entry
    if (kind?.isDirectory()) paths.push(...(await below(path, seen)))
    else if (isCrate && kind?.isFile() !== false) paths.push(path)
  }
  return paths
}
