import { type Stats, statSync } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type Issue, issue, refuse, warning } from '../../../core/error/error.ts'
import { readFolder, unlessMissing } from './files.ts'

/**
 * Returns the file at `source`, or every `.crate` below that folder, sorted. Follows links, and goes
 * into each folder once; includes what only `unreadable` tells of. Skips the folder with the real
 * path `except`. Refuses a folder without any `.crate`.
 */
export async function findCrates(source: string, except?: string): Promise<string[]> {
  const paths = await listCrates(source, except)
  if (paths.length === 0) refuse('no_crates_found', { path: source })
  return paths
}

/** Does the same as `findCrates`, but allows a folder without any `.crate`. */
export async function listCrates(source: string, except?: string): Promise<string[]> {
  const stats = targetOf(source)
  const isThere = stats || isMangled(source) || (await unlessMissing(lstat(source)))
  if (!isThere) refuse('file_missing', { path: source })
  if (!stats || stats.isFile()) return [source]
  if (!stats.isDirectory())
    return source.endsWith('.crate') ? [source] : refuse('file_special', { path: source })
  const paths = await below(source, new Set(except === undefined ? [] : [except]))
  return paths.length === 0 && source.endsWith('.crate') ? [source] : paths.sort()
}

/**
 * Returns why what `findCrates` lists is no file that can be read; null for a file. A socket or
 * device is only warned of: nobody makes one of a crate.
 */
export async function unreadable(path: string): Promise<Issue | null> {
  const stats = targetOf(path)
  if (stats?.isDirectory()) return issue('crate_folder')
  if (stats) return stats.isFile() ? null : warning('crate_special')
  return issue(isMangled(path) ? 'crate_name_encoding' : 'crate_absent')
}

/** Returns what a path leads to; null for nothing, to which a link to itself leads here, too. */
function targetOf(path: string): Stats | null {
  try {
    // Synchronous, because a way through the thread pool costs more than the call.
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return null
    throw error
  }
}

/** Returns whether a path may have bytes that are not UTF-8: no text leads to such a file. */
function isMangled(path: string): boolean {
  return path.includes('\ufffd')
}

async function below(folder: string, seen: Set<string>): Promise<string[]> {
  const real = await unlessMissing(realpath(folder))
  if (real === null) return isMangled(folder) ? [folder] : []
  if (seen.has(real)) return []
  seen.add(real)
  const paths: string[] = []
  for (const entry of await readFolder(folder)) {
    const path = join(folder, entry.name)
    const isCrate = entry.name.endsWith('.crate')
    const kind = entry.isSymbolicLink() ? targetOf(path) : entry
    const inside = kind?.isDirectory() ? await below(path, seen) : null
    if (inside && (inside.length > 0 || !isCrate)) paths.push(...inside)
    // A link that leads nowhere may have led to a folder; those of editors begin with a dot.
    else if (isCrate || (kind === null && !entry.name.startsWith('.'))) paths.push(path)
  }
  return paths
}
