import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'

/** The user for whom this process of root works; null if it works for the one who started it. */
let owner: number | null = null

/**
 * Has a process of root work as the owner of a registry folder from now on, so that a daemon of
 * that user can use every file: locks, SQLite's, those of the git index. Refuses anybody else who
 * may not write there. The daemon makes `locks`; the folder may be the mount point of a volume.
 */
export function workAsOwner(dir: string): void {
  const [place, facts] = factsOf(join(dir, 'locks')) ?? factsOf(dir) ?? []
  const user = process.geteuid?.()
  if (user === undefined || !place || !facts || facts.uid === user) return
  const { uid, gid } = facts
  try {
    if (user !== 0) accessSync(place, constants.W_OK)
    if (user !== 0) return
    process.setgroups?.([gid])
    process.setegid?.(gid)
    process.seteuid?.(uid)
    owner = uid
  } catch {
    // EACCES, or root in a container that may not become another user.
    refuse('registry_of_other', { dir, uid, user })
  }
}

function factsOf(path: string): readonly [string, Stats] | null {
  const facts = statSync(path, { throwIfNoEntry: false })
  return facts ? [path, facts] : null
}

/**
 * Runs work outside of the registry folder as who started the process, such as reading what only
 * root can read. The whole process does so meanwhile: nothing else may create files.
 */
export async function asCaller<T>(work: () => Promise<T>): Promise<T> {
  if (owner === null) return work()
  process.seteuid?.(0)
  try {
    return await work()
  } finally {
    process.seteuid?.(owner)
  }
}
