import { issue, Refusal, refuse } from '../../core/error/error.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import { databaseTime } from '../database/engine.ts'
import { all, type Queries, run, upsert } from '../database/statement.ts'
import { readJsonValue, writeValue } from './values.ts'

/** The keys of the values that say that records were moved away, and that they are an unfinished copy. */
export const MOVED = 'moved'
const COPY = 'copy'

/** Where the records were moved to, and when. */
export interface Departure {
  /** The same as that of the copy there. */
  readonly id: string
  /** A database, without credentials. */
  readonly place: string
  readonly at: string
}

/** Records that are not complete, or not in use yet, and where they are copied from. */
export type Copy = Pick<Departure, 'id' | 'place'>

/** Returns where the records were moved to; null when they are in use. */
export function readDeparture(db: Queries): Promise<Departure | null> {
  return readJsonValue(db, MOVED)
}

/** Returns what records are a copy of; null when they are none, or a finished one. */
export function readCopy(db: Queries): Promise<Copy | null> {
  return readJsonValue(db, COPY)
}

/** Records that records are an unfinished copy, or with null that it is finished. */
export function recordCopy(tx: Queries, copy: Copy | null): Promise<void> {
  return writeValue(tx, COPY, copy && JSON.stringify(copy))
}

/** Refuses records that were moved away, or are an unfinished copy of others. */
export async function requireInUse(db: Queries, file: string): Promise<void> {
  const copy = await readCopy(db)
  if (copy) refuse('move_unfinished', { file, place: copy.place })
  const moved = await readDeparture(db)
  if (moved) refuse('records_moved', { file, place: moved.place, at: moved.at })
}

const PAUSE = 'pause'

/** When a client may look again whether the new place of the records is in use. */
const MOVED_RETRY_SECONDS = 60

/** A time in which nothing is changed. */
export interface Pause {
  /** Milliseconds since 1970 on the clock of the database. */
  readonly until: number
  /** When it began, by the same clock. */
  readonly since?: number
  /** Where the records are being copied to, without credentials; null for an operator's pause. */
  readonly place: string | null
}

const FACTS = `SELECT key, value FROM facts WHERE key IN ('${MOVED}', '${PAUSE}') ORDER BY key`

/** Holds where `requireUnpaused` need not be asked. */
export const UNPAUSED = `NOT EXISTS (${FACTS})`

/**
 * Refuses a change while the registry is paused, and after its records were moved. Call it in the
 * transaction of the change. A pause that is over is removed, so that its maker can tell that
 * something may have changed since.
 */
export async function requireUnpaused(db: Queries): Promise<void> {
  for (const { key, value } of await all<{ key: string; value: string }>(db, FACTS)) {
    if (key === MOVED)
      throw new Refusal([issue('registry_moved')], { retryAfter: MOVED_RETRY_SECONDS })
    const pause = JSON.parse(value) as Pause
    const { until } = pause
    const left = timeLeft(pause, await databaseTime(db))
    if (left > 0) {
      const paused = issue('registry_paused', { until: timestamp(new Date(until)) })
      throw new Refusal([paused], { retryAfter: Math.ceil(left / 1000) })
    }
    await run(db, `DELETE FROM facts WHERE key = '${PAUSE}' AND value = ?`, value)
  }
}

/** Returns whether an error says that nothing can be changed because of a pause or a move. */
export function isPaused(error: unknown): boolean {
  return error instanceof Refusal && (error.has('registry_paused') || error.has('registry_moved'))
}

/** Returns the pause that a registry is in; null when there is none. */
export async function readPause(db: Queries): Promise<Pause | null> {
  const pause = await readJsonValue<Pause>(db, PAUSE)
  return pause && timeLeft(pause, await databaseTime(db)) > 0 ? pause : null
}

/** Returns for how many milliseconds a pause goes on; one that begins later has a wrong clock's times. */
function timeLeft({ until, since = 0 }: Pause, now: number): number {
  return timestamp(new Date(since)) > latest(new Date(now)) ? 0 : until - now
}

/**
 * Pauses a registry for some seconds, instead of the pause that it is in. Refuses while a move is
 * copying the records. Call it in a transaction. Returns what `renewPause` and `endPause` take.
 */
export async function beginPause(
  tx: Queries,
  seconds: number,
  place: string | null = null,
): Promise<string> {
  const before = await readPause(tx)
  if (before && before.place !== null) refuse('migrate_running', { place: before.place })
  const value = await pauseFor(tx, seconds, place)
  await upsert(tx, 'facts', ['key'], { key: PAUSE, value })
  return value
}

/** Makes a pause longer; null when it has ended, and something may have changed. */
export async function renewPause(
  db: Queries,
  before: string,
  seconds: number,
): Promise<string | null> {
  const value = await pauseFor(db, seconds, (JSON.parse(before) as Pause).place)
  const sql = `UPDATE facts SET value = ? WHERE key = '${PAUSE}' AND value = ?`
  return (await run(db, sql, value, before)) === 1 ? value : null
}

/** Ends this pause, or any; returns whether nothing can have changed in it. */
export async function endPause(db: Queries, pause?: string): Promise<boolean> {
  const sql = `DELETE FROM facts WHERE key = '${PAUSE}' AND value = coalesce(?, value)`
  return (await run(db, sql, pause ?? null)) === 1
}

async function pauseFor(db: Queries, seconds: number, place: string | null): Promise<string> {
  const since = await databaseTime(db)
  return JSON.stringify({ until: since + seconds * 1000, since, place } satisfies Pause)
}
