import { refuse } from '../../../../core/error/error.ts'
import { first, type Queries, run, value } from '../statement.ts'

/** A move of the records to another database, as the database that they leave or come to has it. */
export interface Move {
  /** The same in both databases. */
  readonly id: string
  /** Whether the records leave this database, or come to it. */
  readonly side: 'leaving' | 'coming'
  /** The other database, without credentials. */
  readonly place: string
  /** When the records of this database were closed; null before. */
  readonly ended_at: string | null
  /** The last change of a record that the copy has. */
  readonly last: number
}

/** Returns the move of a database; null when it has none. A move that ended well leaves no trace. */
export async function readMove(db: Queries): Promise<Move | null> {
  const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'moves'"
  if ((await value(db, table)) === null) return null
  return first<Move>(db, 'SELECT id, side, place, ended_at, last FROM moves')
}

/** Records that a move begins. */
export async function beginMove(tx: Queries, move: Move): Promise<void> {
  await run(
    tx,
    `CREATE TABLE moves (
      id TEXT NOT NULL, side TEXT NOT NULL, place TEXT NOT NULL, ended_at TEXT,
      last INTEGER NOT NULL)`,
  )
  const { id, side, place, ended_at, last } = move
  const text = 'INSERT INTO moves (id, side, place, ended_at, last) VALUES (?, ?, ?, ?, ?)'
  await run(tx, text, id, side, place, ended_at, last)
}

/** Records when the records of this database were closed. */
export async function endMove(tx: Queries, at: string): Promise<void> {
  await run(tx, 'UPDATE moves SET ended_at = ?', at)
}

/** Records the last change that a copy has; refuses when another process has changed that. */
export async function advanceMove(tx: Queries, before: number, last: number): Promise<void> {
  const changed = await run(tx, 'UPDATE moves SET last = ? WHERE last = ?', last, before)
  if (changed !== 1) refuse('migrate_running')
}

/** Forgets the move. */
export async function forgetMove(tx: Queries): Promise<void> {
  await run(tx, 'DROP TABLE moves')
}

/** Returns whether the records were moved away, and are closed. */
export async function hasMoved(db: Queries): Promise<boolean> {
  return Boolean((await readMove(db))?.ended_at)
}

/** Refuses records that were moved, or whose move to this database has not ended. */
export async function requireNoMove(db: Queries, file: string): Promise<void> {
  const move = await readMove(db)
  if (move?.side === 'coming') refuse('move_unfinished', { file, place: move.place })
  if (move?.ended_at) refuse('records_moved', { file, place: move.place, at: move.ended_at })
}
