// generator/downloads: Counts downloads from access logs. One command calls it; it never reads what
// the daemon counts.
import { createHash } from 'node:crypto'
import { dayOf } from '../../core/day-counts.ts'
import { timestamp } from '../../core/timestamp.ts'
import { all, insert, type Queries, run } from '../database/statement.ts'
import { addDownloads, type DownloadCount } from '../records/downloads/count.ts'
import { requireUnpaused } from '../records/pause.ts'
import type { Registry } from '../registry/registry.ts'
import { headOf, type LineBatch, linesOf, sumsOf } from './log-file.ts'
import { type LogFormat, type LoggedRequest, LogReader } from './log-line.ts'
import type { FindRelease } from './release-path.ts'

/** The counts of an import of one log. */
export type LogSums = ReturnType<typeof noSums>

function noSums() {
  return {
    lines: 0,
    /** Downloads that were counted. */
    downloads: 0,
    /** Other requests. */
    others: 0,
    /** Downloads of releases that this registry does not have. */
    unknown: 0,
    bad: 0,
    /** Some of them, with their numbers among the lines that were read. */
    examples: [] as { line: number; text: string }[],
    /** Bytes that were imported before. */
    known: 0,
    /** Whether the log is skipped because it looks like an older, shorter copy of an imported log. */
    isCopy: false,
    /** Whether the last line is not complete; the next import reads it. */
    unfinished: false,
  }
}

/** Counts are written in batches of this size, in one transaction with the position in the log. */
const BATCH = 1000

/** The most logs with the same first line that are compared. */
const ALIKE_MAX = 100

const EXAMPLES_MAX = 5
const EXAMPLE_LENGTH = 120

/** Callbacks and settings of an import. */
export interface LogImport {
  readonly format: LogFormat
  readonly find: FindRelease
  readonly progress?: (bytes: number) => void
}

/** The position up to which a log is known to be imported; `id` is null for a new log. */
interface Position {
  readonly id: number | null
  readonly bytes: number
  /** Whether the log is shorter than the imported part of a log with the same first line. */
  readonly isCopy: boolean
}

/**
 * Counts the downloads of one access log. Lines imported before are recognized by their content and
 * skipped, so a log that grows, moves or is packed counts each line once. Positions are written
 * together with counts: an interrupted import goes on there. Only one import may run.
 */
export async function importLog(
  registry: Registry,
  path: string,
  { format, find, progress }: LogImport,
): Promise<LogSums> {
  const sums = noSums()
  const head = await headOf(path)
  const first = head.find(line => line.trim() !== '' && !line.startsWith('#'))
  if (first === undefined) return sums
  const key = createHash('sha256').update(first, 'latin1').digest('hex').slice(0, 32)
  const reader = new LogReader(format)
  for (const line of head.slice(0, head.indexOf(first))) reader.read(line)
  const position = await positionOf(registry.database, path, key)
  if (position.isCopy) return { ...sums, isCopy: true }
  let { id, bytes: done } = position
  sums.known = done
  const counts = new Map<string, DownloadCount>()
  const today = dayOf(registry.clock())
  const write = async ({ bytes, sum }: LineBatch): Promise<void> => {
    if (bytes === done) return
    const now = registry.clock()
    id = await registry.database.transaction(async tx => {
      await requireUnpaused(tx)
      const missing = await addDownloads(tx, [...counts.values()], now)
      const unknown = missing.reduce((total, count) => total + count.n, 0)
      for (const { n } of counts.values()) sums.downloads += n
      sums.downloads -= unknown
      sums.unknown += unknown
      const row = { first_line: key, bytes, sum: sum(), imported_at: timestamp(now) }
      await run(tx, 'DELETE FROM imported_logs WHERE id = ?', id)
      return insert(tx, 'imported_logs', row)
    })
    done = bytes
    counts.clear()
  }
  let last: LineBatch | null = null
  for await (const batch of linesOf(path, done)) {
    for (const line of batch.lines) {
      const request = line === null ? null : reader.read(line)
      sums.lines++
      if (request === 'comment') continue
      if (!request || request.day > today + 1) addBad(sums, line)
      else count(counts, sums, find, request)
    }
    last = batch
    sums.unfinished = batch.isUnfinished
    progress?.(batch.bytes)
    if (counts.size >= BATCH) await write(batch)
  }
  if (last) await write(last)
  return sums
}

function count(
  counts: Map<string, DownloadCount>,
  sums: LogSums,
  find: FindRelease,
  { method, target, status, day }: LoggedRequest,
): void {
  const release = method === 'GET' && status === 200 ? find(target) : null
  if (!release) {
    sums.others++
    return
  }
  const key = `${day} ${'cksum' in release ? release.cksum : `${release.name} ${release.version}`}`
  counts.set(key, { release, day, n: (counts.get(key)?.n ?? 0) + 1 })
}

function addBad(sums: LogSums, line: string | null): void {
  sums.bad++
  if (sums.examples.length >= EXAMPLES_MAX) return
  const text = line === null ? '(too long)' : line.slice(0, EXAMPLE_LENGTH)
  sums.examples.push({ line: sums.lines, text: text.replace(/[^ -~]/g, '?') })
}

/** Finds how far a log was imported, by first line and checksum, or what it may be a copy of. */
async function positionOf(db: Queries, path: string, key: string): Promise<Position> {
  const sql = `SELECT id, bytes, sum FROM imported_logs
    WHERE first_line = ? ORDER BY bytes DESC LIMIT ${ALIKE_MAX}`
  const alike = await all<Omit<Position, 'isCopy'> & { id: number; sum: string }>(db, sql, key)
  const none = { id: null, bytes: 0, isCopy: false }
  if (alike.length === 0) return none
  const sums = await sumsOf(
    path,
    alike.map(position => position.bytes),
  )
  const match = alike.find(position => sums.get(position.bytes) === position.sum)
  if (match) return { ...match, isCopy: false }
  const longer = alike.find(position => !sums.has(position.bytes))
  return longer ? { ...longer, isCopy: true } : none
}
