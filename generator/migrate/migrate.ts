import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { withoutCredentials } from '../../core/urls.ts'
import { DATABASE_FILE, type Registry } from '../registry.ts'
import type { CrateStore } from '../store/crate-store.ts'
import {
  type CopyProgress,
  compareCatalogs,
  copyCatalog,
  requireEmpty,
} from '../store/database/copy.ts'
import { openSnapshot, type Snapshot } from '../store/database/database.ts'
import { isOnServer } from '../store/database/engine.ts'
import { PLIMSOLL_SCHEMA } from '../store/database/migrations.ts'
import { applyChanges } from '../store/database/moves/apply-changes.ts'
import {
  closeRecords,
  countChangedRows,
  dropChangedRows,
  forgetChangedRows,
  lastChangedRow,
  noteChangedRows,
} from '../store/database/moves/changed-rows.ts'
import {
  advanceMove,
  beginMove,
  endMove,
  forgetMove,
  type Move,
  readMove,
} from '../store/database/moves/move.ts'
import type { Queries } from '../store/database/statement.ts'
import { Lock } from '../store/lock.ts'
import { type CopiedCrates, migrateCrates, setDeletedAside } from './crates.ts'
import { copyPath, openTarget, type Target } from './target.ts'
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

/** What a move did. */
export interface Moved {
  /** The rows of all records, when they were compared. */
  readonly records: number
  /** The place of the new database, without credentials. */
  readonly place: string
  readonly crates: CopiedCrates | null
  /** How long publishes waited in the end. */
  readonly pausedMs: number
}

/** So few changed rows are left to the pause; copying them takes less than a second. */
const FEW_ROWS = 2000

/** How often changes are copied before the pause, however many are left. */
const ROUNDS = 20

/**
 * Moves the records of a registry, which may be served meanwhile, to another database, and `.crate`
 * files to another place. Publishes wait only while what has changed last is copied. Then the old
 * records refuse every change, so that none is lost. All records were compared once, and each row
 * that has changed since again. What was stopped goes on with the next call; the old registry is
 * in use until the end.
 */
export async function migrate(registry: Registry, to: Destination): Promise<Moved> {
  const lock = new Lock(join(registry.dir, 'locks', 'migrate.lock'))
  if (!lock.tryAcquire(`process ${process.pid}`)) refuse('migrate_running')
  try {
    return await new Migration(registry, to).run()
  } finally {
    lock.release()
  }
}

/**
 * Ends a move before or after its end: the records of the registry take changes again. Returns
 * where they were moved to; refuses when there was no move.
 */
export async function undoMove({ database, dir }: Registry): Promise<string> {
  const place = await database.transaction().execute(async tx => {
    const move = await readMove(tx)
    if (move?.side !== 'leaving') return refuse('migrate_not_begun')
    await forgetChangedRows(tx)
    await forgetMove(tx)
    return move.place
  })
  for (const end of ['', '-wal', '-shm']) await rm(`${copyPath(dir)}${end}`, { force: true })
  return place
}

class Migration {
  readonly #registry: Registry
  readonly #to: Destination
  readonly #place: string
  #records = 0
  #crates: CopiedCrates | null = null

  constructor(registry: Registry, to: Destination) {
    this.#registry = registry
    this.#to = to
    const { url } = to.database
    this.#place = url === null ? join(registry.dir, DATABASE_FILE) : withoutCredentials(url)
  }

  async run(): Promise<Moved> {
    const { database } = this.#registry
    const move = await readMove(database)
    const hasEnded = move !== null && move.ended_at !== null
    if (hasEnded && move.place !== this.#place)
      refuse('records_moved', { file: DATABASE_FILE, place: move.place, at: move.ended_at })
    const target = await openTarget(this.#registry, this.#to.database, hasEnded)
    if (target === null) return { records: 0, place: this.#place, crates: null, pausedMs: 0 }
    try {
      if (!hasEnded && (await target.move()) === null) await requireEmpty(target.database)
      await this.#copyCrates()
      const id = hasEnded ? move.id : await this.#note()
      // Comes after changes are noted: what is rendered from now on is marked in the new records.
      await this.#to.tree?.upload(this.#to.progress)
      const pausedMs = hasEnded ? 0 : await this.#copyAll(id, target)
      if (this.#to.crates) await setDeletedAside(database, this.#to.crates)
      await target.finish(id, async tx => this.#to.tree?.note(tx, this.#isShared(target)))
      return { records: this.#records, place: this.#place, crates: this.#crates, pausedMs }
    } finally {
      await target.close()
    }
  }

  /** Copies everything, the last changes while publishes wait; returns for how long they did. */
  async #copyAll(id: string, target: Target): Promise<number> {
    const begun = await target.move()
    if (begun === null) await this.#copyRecords(id, target)
    else if (begun.id !== id) refuse('migrate_other', { place: target.place })
    const { database, mutex } = this.#registry
    await this.#withSnapshot(async from => {
      await this.#catchUp(from, target)
      this.#records = await compareCatalogs(from, target.database, this.#to.progress)
    })
    for (
      let round = 0, left = Number.POSITIVE_INFINITY;
      round < ROUNDS && left > FEW_ROWS;
      round++
    ) {
      await this.#copyCrates()
      await this.#withSnapshot(from => this.#catchUp(from, target))
      left = await this.#left(target)
    }
    return mutex.run(async () => {
      const began = performance.now()
      await this.#copyCrates()
      await database.transaction().execute(async tx => {
        await this.#catchUp(tx, target)
        await closeRecords(tx)
        await endMove(tx, timestamp(this.#registry.clock()))
      })
      return performance.now() - began
    })
  }

  /** Whether several daemons may share the tree in a bucket. */
  #isShared({ database }: Target): boolean {
    return isOnServer(database) && (this.#to.crates ?? this.#registry.crates).path('') === null
  }

  /** Has changes noted from now on; returns the id of the move. */
  #note(): Promise<string> {
    return this.#registry.database.transaction().execute(async tx => {
      const move = await readMove(tx)
      const { version } = PLIMSOLL_SCHEMA
      if (move?.place === this.#place && move.id.startsWith(`${version} `)) return move.id
      // To another place, or of another version, which may have other tables.
      if (move) {
        await forgetChangedRows(tx)
        await forgetMove(tx)
      }
      const id = `${version} ${randomBytes(8).toString('hex')}`
      await noteChangedRows(tx)
      await beginMove(tx, { id, side: 'leaving', place: this.#place, ended_at: null, last: 0 })
      return id
    })
  }

  async #copyRecords(id: string, target: Target): Promise<void> {
    const { database } = this.#registry
    await this.#withSnapshot(async from => {
      const last = (await lastChangedRow(from)) ?? 0
      const move: Move = {
        id,
        side: 'coming',
        place: placeOf(this.#registry),
        ended_at: null,
        last,
      }
      await target.database.transaction().execute(async tx => {
        await copyCatalog(from, tx, this.#to.progress)
        await beginMove(tx, move)
      })
      await dropChangedRows(database, last)
    })
  }

  /** Copies what has changed since the last time; `from` does not change meanwhile. */
  async #catchUp(from: Queries, target: Target): Promise<void> {
    const before = await lastOf(target)
    const last = (await lastChangedRow(from)) ?? before
    if (last <= before) return
    this.#to.progress?.('copying what has changed', 0, 0)
    await target.database.transaction().execute(async tx => {
      await applyChanges(from, tx, before)
      await advanceMove(tx, before, last)
    })
  }

  async #left(target: Target): Promise<number> {
    const last = await lastOf(target)
    await dropChangedRows(this.#registry.database, last)
    return countChangedRows(this.#registry.database, last)
  }

  async #copyCrates(): Promise<void> {
    const { crates, progress } = this.#to
    if (crates === null) return
    this.#crates = await migrateCrates(this.#registry, crates, progress, this.#crates)
  }

  async #withSnapshot(work: (from: Queries) => Promise<void>): Promise<void> {
    const snapshot = await takeSnapshot(this.#registry)
    try {
      await work(snapshot.queries)
    } finally {
      await snapshot.close()
    }
  }
}

async function lastOf(target: Target): Promise<number> {
  return (await target.move())?.last ?? 0
}

/** The database of a registry, without credentials. */
function placeOf({ settings, dir }: Registry): string {
  const { url } = settings.database
  return url === null ? join(dir, DATABASE_FILE) : withoutCredentials(url)
}

async function takeSnapshot({ settings, dir }: Registry): Promise<Snapshot> {
  const { url } = settings.database
  if (url === null) return openSnapshot(join(dir, DATABASE_FILE))
  const { openSnapshot: openOnServer } = await import('../store/database/postgres/open.ts')
  return openOnServer({ ...settings.database, url })
}
