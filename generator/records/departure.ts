import { refuse } from '../../core/error/error.ts'
import type { Queries } from '../database/statement.ts'
import { readJsonFact, writeFact } from './facts.ts'

/** The keys of the facts that records were moved away, and that they are an unfinished copy. */
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
  return readJsonFact(db, MOVED)
}

/** Records that the records were moved away: they take no changes any more. */
export function recordDeparture(tx: Queries, departure: Departure): Promise<void> {
  return writeFact(tx, MOVED, JSON.stringify(departure))
}

/** Returns what records are a copy of; null when they are none, or a finished one. */
export function readCopy(db: Queries): Promise<Copy | null> {
  return readJsonFact(db, COPY)
}

/** Records that records are an unfinished copy, or with null that it is finished. */
export function recordCopy(tx: Queries, copy: Copy | null): Promise<void> {
  return writeFact(tx, COPY, copy && JSON.stringify(copy))
}

/** Refuses records that were moved away, or are an unfinished copy of others. */
export async function requireInUse(db: Queries, file: string): Promise<void> {
  const copy = await readCopy(db)
  if (copy) refuse('move_unfinished', { file, place: copy.place })
  const moved = await readDeparture(db)
  if (moved) refuse('records_moved', { file, place: moved.place, at: moved.at })
}
