import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Mutex } from '../../../core/mutex.ts'
import { readFolder } from '../../store/durable-file.ts'
import { removeStaleFiles } from './bare-repository.ts'
import { type GitAt, runGit } from './git-process.ts'

/** Every new git process opens every pack's index, so their number is kept small. */
const MANY_PACKS = 50
/** Loose objects in one of git's 256 folders that suggest 1,000 in all (as `git gc` estimates). */
const MANY_LOOSE = 4
/** Below this a clone counts its objects faster than a bitmap could be read. */
const BITMAP_PAYS = 20_000

/**
 * Packing with the git executable. Small packs are combined in geometric steps; once the objects
 * outside the pack with the bitmap are half of it, everything is packed into one. The growth that
 * caused a packing pays for it.
 */
export class Maintenance {
  readonly #path: string
  readonly #command: string | null
  readonly #mutex = new Mutex()
  readonly #stopped = new AbortController()
  /** Number of objects when this process last packed everything. */
  #settled = 0

  /** Without a git executable, `command`, nothing is packed. */
  constructor(path: string, command: string | null) {
    this.#path = path
    this.#command = command
  }

  /** Packs what is due, then does `after`. */
  async run(after: () => Promise<void>): Promise<void> {
    await this.#mutex.run(async () => {
      await removeStaleFiles(this.#path)
      const how = await this.#due()
      if (how && this.#command !== null)
        await this.#pack({ command: this.#command, path: this.#path }, how)
      await after()
    })
  }

  /** Aborts a running packing; git leaves the repository intact, and the next start continues. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#mutex.idle()
  }

  async #pack(git: GitAt, how: readonly string[]): Promise<void> {
    const { signal } = this.#stopped
    try {
      await runGit(git, ['repack', '-q', '-d', '-n', ...how], signal)
      // The history's shape in one file: counting and negotiating no longer open every commit.
      if (how.includes('-a'))
        await runGit(git, ['commit-graph', 'write', '--reachable', '--no-progress'], signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** What `git repack` has to do now; null when nothing is due. */
  async #due(): Promise<readonly string[] | null> {
    const packs = await scanPacks(join(this.#path, 'objects', 'pack'))
    const loose = await readFolder(join(this.#path, 'objects', '17'))
    const total = packs.reduce((sum, pack) => sum + pack.objects, 0)
    // Where git writes no bitmap (a pack is kept), growth since the last packing counts instead.
    const settled = Math.max(
      this.#settled,
      ...packs.filter(pack => pack.bitmap).map(pack => pack.objects),
    )
    if (total - settled > settled / 2 && total > BITMAP_PAYS) {
      this.#settled = total
      // Unreachable objects stay: a commit whose ref has not moved yet may need them. Every commit
      // has a new root tree: new deltas in long chains save a third of a clone.
      return ['-a', '-f', '--depth=250', '--keep-unreachable', '--write-bitmap-index']
    }
    return packs.length > MANY_PACKS || loose.length >= MANY_LOOSE ? ['--geometric=2'] : null
  }
}

async function scanPacks(folder: string): Promise<{ objects: number; bitmap: boolean }[]> {
  const names = await readdir(folder)
  const packs: Awaited<ReturnType<typeof scanPacks>> = []
  for (const name of names.filter(one => one.endsWith('.idx'))) {
    const handle = await open(join(folder, name))
    try {
      // Version 2: a header of 8 bytes, then the fan-out table; its last entry counts all objects.
      const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 8 + 255 * 4)
      const bitmap = names.includes(name.replace(/idx$/, 'bitmap'))
      packs.push({ objects: buffer.readUInt32BE(), bitmap })
    } finally {
      await handle.close()
    }
  }
  return packs
}
