import { join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { readFolder, statOf } from './files.ts'

/**
 * Returns the file at `source`, or every `.crate` below that folder, sorted. Follows links to
 * files, but not links to folders, which may form a loop; includes those that lead nowhere, for
 * their readers to complain. Skips the folder `except`. Refuses a folder without any `.crate`.
 */
export async function findCrates(source: string, except?: string): Promise<string[]> {
  const found = await listCrates(source, except)
  if (found.length === 0) refuse('no_crates_found', { path: source })
  return found
}

/** Does the same as `findCrates`, but allows a folder without any `.crate`. */
export async function listCrates(source: string, except?: string): Promise<string[]> {
  const facts = await statOf(source)
  if (!facts) refuse('file_missing', { path: source })
  if (facts.isFile()) return [source]
  if (!facts.isDirectory()) refuse('file_special', { path: source })
  return (await below(source, except)).sort()
}

async function below(folder: string, except?: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readFolder(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (path !== except) found.push(...(await below(path, except)))
    } else if (entry.name.endsWith('.crate') && (await statOf(path))?.isFile() !== false)
      found.push(path)
  }
  return found
}
