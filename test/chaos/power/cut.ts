import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../support/random.ts'
import type { DataChange, Disk, Inode, NameChange } from './disk.ts'

/** The unit that a disk writes at once; a longer write may be there in part. */
const SECTOR = 512
/** A file system keeps its order of names, or does not; bytes may come before and after. */
const MODES = ['none', 'all', 'prefix', 'some'] as const

/** The state of a disk after the power was cut. */
export interface Cut {
  readonly at: number
  /** The share of the unsynced changes that is there: names, bytes. */
  readonly modes: readonly [string, string]
  readonly lostNames: readonly string[]
}

/**
 * Makes `folder` a possible state of a disk whose power is cut at a moment. Synced data is there.
 * Unsynced names are applied one by one or in their order up to a point, each as a whole;
 * `ordered`: in their order only, as file systems with a journal keep it. Files have some of their
 * changes, in sectors; some have their full length and are empty.
 */
export function cutPower(
  disk: Disk,
  at: number,
  random: Random,
  folder: string,
  ordered = false,
): Cut {
  const modes = [ordered ? 'ordered' : random.pick(MODES), random.pick(MODES)] as const
  const lostNames: string[] = []
  const happened = disk.names.filter(change => change.begin < at)
  const until = new Map<Inode, number>()
  const open = happened.filter(({ folder: parent, end }) => {
    if (!until.has(parent)) until.set(parent, durableUntil(parent, at))
    return end > (until.get(parent) ?? 0)
  })
  const isOpen = new Set(open)
  // A journal puts everything on disk that came before the synced data.
  const floor = ordered ? open.findLastIndex(c => c.end < lastDurable(happened, isOpen)) + 1 : 0
  const late = keep(ordered ? 'prefix' : modes[0], open.slice(floor), random)
  const kept = new Set([...open.slice(0, floor), ...late])
  const tree = new Map<Inode, Map<string, Inode>>()
  for (const change of happened) {
    if (isOpen.has(change) && !kept.has(change)) {
      lostNames.push(change.what)
      continue
    }
    for (const { folder: parent, name, inode } of change.effects) {
      const names = tree.get(parent) ?? new Map<string, Inode>()
      tree.set(parent, names)
      if (inode) names.set(name, inode)
      else names.delete(name)
    }
  }
  const places = new Map<Inode, string>()
  const write = (inode: Inode, path: string): void => {
    mkdirSync(path)
    for (const [name, child] of tree.get(inode) ?? []) {
      // Shared memory of SQLite, which is made anew after a crash.
      if (name.endsWith('-shm')) continue
      const place = join(path, name)
      const placed = places.get(child)
      if (child.isFolder) {
        // A folder that was moved may have both names for a moment of the model.
        if (placed === undefined) write(child, place)
      } else if (placed !== undefined) linkSync(placed, place)
      else writeFileSync(place, content(child, at, modes[1], random))
      places.set(child, place)
    }
  }
  write(disk.top, folder)
  return { at, modes, lostNames }
}

/** Changes that ended before this moment were on disk at `at`. */
function durableUntil({ syncs }: Inode, at: number): number {
  return Math.max(0, ...syncs.filter(sync => sync.end <= at).map(sync => sync.begin))
}

function lastDurable(changes: readonly NameChange[], open: ReadonlySet<NameChange>): number {
  return changes.findLast(change => !open.has(change))?.end ?? 0
}

/** Returns the unsynced changes that are there nevertheless. */
function keep<T>(mode: string, changes: readonly T[], random: Random): readonly T[] {
  if (mode === 'none') return []
  if (mode === 'all') return changes
  if (mode === 'prefix') return changes.slice(0, random.below(changes.length + 1))
  const likelihood = random.pick([0.1, 0.5, 0.9])
  return changes.filter(() => random.chance(likelihood))
}

function content(inode: Inode, at: number, wanted: string, random: Random): Buffer {
  const happened = inode.changes.filter(change => change.begin < at)
  const until = durableUntil(inode, at)
  const mode = random.chance(0.5) ? wanted : random.pick(MODES)
  const open = happened.filter(change => change.end > until)
  const kept = new Set(keep(mode, open, random))
  const isZeroed = random.chance(0.15)
  const bytes = Buffer.alloc(Math.max(0, ...happened.map(endOf)))
  let length = 0
  for (const change of happened) {
    const isOpen = change.end > until
    if (isOpen && !kept.has(change)) continue
    const end = endOf(change)
    if (change.bytes === null) bytes.fill(0, end)
    else if (isOpen && isZeroed) bytes.fill(0, change.at, end)
    else if (isOpen && mode === 'some') copySome(bytes, change.bytes, change.at, random)
    else change.bytes.copy(bytes, change.at)
    length = change.bytes === null ? end : Math.max(length, end)
  }
  return bytes.subarray(0, length)
}

function endOf({ at, bytes }: DataChange): number {
  return at + (bytes?.length ?? 0)
}

/** Copies a part of the sectors. */
function copySome(target: Buffer, bytes: Buffer, at: number, random: Random): void {
  for (let from = 0; from < bytes.length; from += SECTOR)
    if (random.chance(0.7)) bytes.copy(target, at + from, from, from + SECTOR)
}
