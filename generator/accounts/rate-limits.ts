import { latest } from '../../core/timestamp.ts'
import { type Queries, run, value } from '../database/statement.ts'

/** Clocks of daemons may differ by this without anybody getting more tokens. */
const SKEW_MS = 60_000

/** A bucket that nobody used for this long is full by every daemon's clock. */
const FORGET_MS = 60_000 + SKEW_MS

/** The most buckets that are kept; the ones used last. */
const MOST = 100_000

/** Takes a token of a bucket on a server, waiting for nothing; returns the level before. */
export async function takeToken(
  db: Queries,
  bucket: string,
  perMinute: number,
  now: Date,
): Promise<number> {
  const sql = 'SELECT take_token(?, ?, ?)'
  return (await value<number>(db, sql, bucket, perMinute, now.getTime())) ?? 0
}

/** Takes tokens from a bucket that may not have them yet; returns its level afterwards. */
export async function oweTokens(
  db: Queries,
  bucket: string,
  perMinute: number,
  { tokens, now }: { readonly tokens: number; readonly now: Date },
): Promise<number> {
  const sql = `UPDATE rate_limits SET at = greatest(at, ?),
      level = least(?, level + greatest(0, ? - at) / 60000 * ?) - ?
    WHERE key = ? RETURNING level`
  const at = now.getTime()
  const level = await value<number>(db, sql, at, perMinute, at, perMinute, tokens, bucket)
  // A bucket that was removed since it was used had been full.
  return level ?? perMinute
}

/** Removes full buckets, those of a clock that was wrong, and the oldest beyond 100,000; to be called every few seconds. */
export async function deleteOldBuckets(db: Queries, now: Date): Promise<void> {
  const sql = `DELETE FROM rate_limits WHERE at < ? OR at > ? OR key IN
    (SELECT key FROM rate_limits ORDER BY at DESC, key OFFSET ?)`
  await run(db, sql, now.getTime() - FORGET_MS, Date.parse(latest(now)), MOST)
}
