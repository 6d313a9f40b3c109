import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { type CopyProgress, compareCatalogs, copyCatalog } from '../database/copy.ts'
import { openSnapshot, type Snapshot } from '../database/database.ts'
import type { CrateStore } from '../places/crate-store.ts'
import { Lock } from '../places/locks/lock.ts'
import { readDeparture, recordCopy, recordDeparture } from '../records/departure.ts'
import { writeFact } from '../records/facts.ts'
import { DATABASE_FILE } from '../registry/folder.ts'
import type { Registry } from '../registry/registry.ts'
import { type CopiedCrates, migrateCrates, setDeletedAside } from './crates.ts'
import { HeldPause } from './held-pause.ts'
import { openTarget, placeOf, type Target } from './target.ts'
import type { TreeCopy } from './tree.ts'

/** Where a registry moves to. */
export interface Destination {
  /** A PostgreSQL server, or without a URL the file in the registry folder. */
  readonly database: Settings['database']
  /** Null: the `.crate` files stay where they are. */
  readonly crates: CrateStore | null
  /** Null: the tree stays where it is, or is rendered by the next build. */
  readonly tree: TreeCopy | null
  readonly progress?: CopyProgress
}

/** The result of a move. */
export interface Moved {
  /** The rows of all records; 0 when they were there already. */
  readonly records: number
  /** The place of the new database, without credentials. */
  readonly place: string
  readonly crates: CopiedCrates | null
  /** How long nothing could be changed. */
  readonly pausedMs: number
}

/** How often the files are compared before the pause, and at most in it. */
const ROUNDS = 2
const ROUNDS_PAUSED = 5

/**
 * Moves the records of a registry, which may be served meanwhile, to another database, and files to
 * other places: files first, then, in a pause, the rest of them and all records, compared. Then the
 * old records refuse every change for good; a move that was stopped before begins again.
 */
export async function migrate(registry: Registry, to: Destination): Promise<Moved> {
  const lock = new Lock(join(registry.dir, 'locks', 'migrate.lock'))
  const place = placeOf(registry.dir, to.database)
  if (!lock.tryAcquire(`process ${process.pid}`)) refuse('migrate_running', { place })
  try {
    return await new Migration(registry, to, place).run()
  } finally {
    lock.release()
  }
}

class Migration {
  readonly #registry: Registry
  readonly #to: Destination
  readonly #place: string
  #crates: CopiedCrates | null = null
  /** When the files were last compared. */
  #compared: Date | null = null

  constructor(registry: Registry, to: Destination, place: string) {
    this.#registry = registry
    this.#to = to
    this.#place = place
  }

  async run(): Promise<Moved> {
    const { database, dir, settings } = this.#registry
    const moved = await readDeparture(database)
    const from = placeOf(dir, settings.database)
    if (moved && moved.place !== this.#place) refuse('records_moved', { ...moved, file: from })
    const done = { records: 0, place: this.#place, crates: null, pausedMs: 0 }
    const target = await openTarget(this.#registry, this.#to.database, moved !== null)
    if (target === null) return done
    try {
      if (moved) await target.finish(moved.id)
      if (moved) return done
      for (let round = 0; round < ROUNDS; round++) await this.#copyFiles()
      return await this.#move(target, randomBytes(8).toString('hex'), from)
    } finally {
      await target.close()
    }
  }

  /** Copies what is left while the registry is paused, and ends its use here. */
  async #move(target: Target, id: string, from: string): Promise<Moved> {
    const { database, clock } = this.#registry
    const pause = await HeldPause.begin(database, this.#place)
    try {
      await this.#awaitTurns()
      const records = await this.#copyRecords(target, id, from)
      // Comes after the records: what is rendered until then is not marked in them any more.
      await this.#copyLastFiles()
      await this.#to.tree?.note(target.database)
      // Nobody knows what a tree that stays has of the `.crate` files.
      if (!this.#to.tree && this.#to.crates) await writeFact(target.database, 'tree_format', null)
      await database.transaction(async tx => {
        await pause.end(tx)
        await recordDeparture(tx, { id, place: this.#place, at: timestamp(clock()) })
      })
      const pausedMs = performance.now() - pause.began
      await target.finish(id)
      return { records, place: this.#place, crates: this.#crates, pausedMs }
    } finally {
      await pause.release()
    }
  }

  /** Waits until everything is written that was begun before the pause. */
  async #awaitTurns(): Promise<void> {
    const { locks, mutex, pageMutex } = this.#registry
    const git = locks.mutex('git')
    for (const lock of [mutex, pageMutex, git]) await lock.run(async () => {})
    await git.close()
  }

  async #copyRecords(target: Target, id: string, from: string): Promise<number> {
    const { progress } = this.#to
    // Searches and downloads go on: what they write between two tables must not be copied.
    const { queries, close } = await takeSnapshot(this.#registry)
    try {
      await target.database.transaction(async tx => {
        await copyCatalog(queries, tx, progress)
        await recordCopy(tx, { id, place: from })
      })
      return await compareCatalogs(queries, target.database, progress)
    } finally {
      await close()
    }
  }

  /** Copies the files that differ, until none does. */
  async #copyLastFiles(): Promise<void> {
    const { crates } = this.#to
    for (let round = 0; (await this.#copyFiles()) > 0; round++) {
      if (round === ROUNDS_PAUSED) refuse('migrate_tree_changing')
    }
    if (crates) await setDeletedAside(this.#registry.database, crates)
  }

  /** Copies the files that differ from those of before; returns how many of the tree did. */
  async #copyFiles(): Promise<number> {
    const { crates, tree, progress } = this.#to
    const now = new Date()
    if (crates || tree) {
      const { show } = tree ?? {}
      this.#crates = await migrateCrates(this.#registry, crates, show, progress, this.#crates)
    }
    const changed = (await tree?.update(this.#compared, progress)) ?? 0
    this.#compared = now
    return changed
  }
}

async function takeSnapshot({ settings, dir }: Registry): Promise<Snapshot> {
  const { url } = settings.database
  if (url === null) return openSnapshot(join(dir, DATABASE_FILE))
  const { openSnapshot: openOnServer } = await import('../database/postgres/open.ts')
  return openOnServer({ ...settings.database, url })
}
