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
  const [place, stats] = statsOf(join(dir, 'locks')) ?? statsOf(dir) ?? []
  const user = process.geteuid?.()
  if (user === undefined || !place || !stats || stats.uid === user) return
  const { uid, gid } = stats
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

function statsOf(path: string): readonly [string, Stats] | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? [path, stats] : null
}

/**
 * Runs work outside of the registry folder as who started the process, such as reading what only
 * root can read. The whole process does so meanwhile: nothing else may create files.
 */
export function asCaller<T>(work: () => Promise<T>): Promise<T> {
  return as(0, work)
}

/** Runs work on the registry within work of the caller. */
export function asOwner<T>(work: () => Promise<T>): Promise<T> {
  return as(owner, work)
}

async function as<T>(user: number | null, work: () => Promise<T>): Promise<T> {
  const before = process.geteuid?.()
  if (owner === null || user === null || before === undefined) return work()
  process.seteuid?.(user)
  try {
    return await work()
  } finally {
    process.seteuid?.(before)
  }
}

/** Returns how much work may go on at once of which some is the caller's. */
export function atOnce(most: number): number {
  return owner === null ? most : 1
}

/** Yields the same items; what finds each of them is work of the caller. */
export async function* stepsOfCaller<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const steps = items[Symbol.asyncIterator]()
  try {
    for (;;) {
      const step = await asCaller(() => steps.next())
      if (step.done) return
      yield step.value
    }
  } finally {
    await steps.return?.()
  }
}
