import { latest } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, type Queries, type Row, run } from '../database/statement.ts'
import type { Attempt } from './sender.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND

/** The pauses after failed attempts, in seconds; after the last one an event is given up. */
const PAUSES_S = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** By how much of itself a pause may be longer. */
const JITTER = 0.2
/** How long other events wait at most for a receiver that asks for fewer. */
const SLOWER_MS = 3600 * SECOND
const SLOW_DOWN = [429, 502, 503, 504]
const GONE = 410

/** How long the log keeps what is done. */
const KEPT_MS = 30 * DAY

/** An event that is to be sent. */
export type Delivered = Pick<
  Row<'deliveries'>,
  'id' | 'message' | 'type' | 'at' | 'data' | 'attempts'
>

/** Lists events that a webhook is to be told now, whose crates the index shows as they tell. */
export function dueDeliveries(db: Queries, webhook: string, now: Date, limit: number) {
  const sql = `SELECT id, message, type, at, data, attempts FROM deliveries
    WHERE webhook = ? AND due_at IS NOT NULL AND (due_at <= ? OR due_at > ?)
      AND NOT EXISTS (SELECT 1 FROM marks
        WHERE kind IN ('index', 'whole') AND subject = deliveries.crate_id)
    ORDER BY due_at LIMIT ?`
  // A time beyond all pauses is of a clock that was wrong.
  const far = new Date(now.getTime() + 3 * DAY)
  return all<Delivered>(db, sql, webhook, now.toISOString(), far.toISOString(), limit)
}

/**
 * Records an attempt: the event is taken, is tried again after a pause, or is given up. A receiver
 * that is gone (410) is told nothing more. `speed` divides the pauses.
 */
export async function recordAttempt(
  database: Database,
  webhook: string,
  { id, attempts }: Pick<Delivered, 'id' | 'attempts'>,
  { status, after, problem }: Omit<Attempt, 'headers'>,
  now: Date,
  speed = 1,
): Promise<void> {
  const pause = PAUSES_S[attempts]
  const isGone = status === GONE
  const later = (ms: number) => new Date(now.getTime() + ms / speed).toISOString()
  const asked = Math.min(after ?? 0, DAY)
  const wait = Math.max((pause ?? 0) * SECOND * (1 + Math.random() * JITTER), asked)
  const due = problem === null || isGone || pause === undefined ? null : later(wait)
  const result = problem ?? `HTTP status ${status}`
  await database.transaction(async tx => {
    // The receiver may be gone since, by its answer to another event.
    const sql = `UPDATE deliveries SET attempts = ?, result = ?, due_at = CASE WHEN EXISTS
      (SELECT 1 FROM webhooks WHERE name = webhook AND ended_at IS NULL) THEN ? END WHERE id = ?`
    await run(tx, sql, attempts + 1, result, due, id)
    if (status !== null && SLOW_DOWN.includes(status)) {
      const slower = `UPDATE deliveries SET due_at = ? WHERE webhook = ? AND due_at < ?`
      const until = later(Math.min(after ?? (PAUSES_S[0] ?? 0) * SECOND, SLOWER_MS))
      await run(tx, slower, until, webhook, until)
    }
    if (!isGone) return
    await run(tx, 'UPDATE webhooks SET ended_at = ? WHERE name = ?', now.toISOString(), webhook)
    const rest = `UPDATE deliveries SET due_at = NULL, result = ?
      WHERE webhook = ? AND due_at IS NOT NULL`
    await run(tx, rest, 'the receiver was gone (410)', webhook)
  }, 'later')
}

/** Removes what was done a month ago from the log. */
export async function pruneDeliveries(database: Database, now: Date): Promise<void> {
  const old = new Date(now.getTime() - KEPT_MS).toISOString()
  const sql = 'DELETE FROM deliveries WHERE due_at IS NULL AND (at < ? OR at > ?)'
  await run(database, sql, old, latest(now))
}

/** Makes events due now that were not taken, and begins again after a 410; returns how many. */
export function resend(database: Database, webhook: string, now: Date): Promise<number> {
  return database.transaction(async tx => {
    await run(tx, 'UPDATE webhooks SET ended_at = NULL WHERE name = ?', webhook)
    const sql = `UPDATE deliveries SET due_at = ?, attempts = 0
      WHERE webhook = ? AND (due_at IS NOT NULL OR result NOT LIKE 'HTTP status 2%')`
    return run(tx, sql, now.toISOString(), webhook)
  })
}

/** A webhook of the records: when it has ended, if so, and how many events it is still to get. */
export interface WebhookState {
  readonly name: string
  readonly ended_at: string | null
  readonly waiting: number
}

/** Returns the webhooks of the records by name. */
export function listWebhooks(db: Queries): Promise<WebhookState[]> {
  const waiting = 'SELECT count(*) FROM deliveries WHERE webhook = name AND due_at IS NOT NULL'
  return all(db, `SELECT name, ended_at, (${waiting}) AS waiting FROM webhooks ORDER BY name`)
}

/** A line of the log of deliveries. */
export type LoggedDelivery = Omit<Row<'deliveries'>, 'crate_id' | 'generation'>

/** Returns the last deliveries, newest first. */
export function listDeliveries(db: Queries, limit: number) {
  const sql = `SELECT id, webhook, message, type, data, at, attempts, due_at, result
    FROM deliveries ORDER BY id DESC LIMIT ?`
  return all<LoggedDelivery>(db, sql, limit)
}
