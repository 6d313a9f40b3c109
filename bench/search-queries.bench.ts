import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import Libsql from 'libsql'
import { termsOf } from '../core/search/terms.ts'
import {
  BITMAPS_FROM,
  BLOCK_CRATES,
  makeBitmaps,
} from '../generator/store/catalog/search/bitmaps.ts'
import { searchCrates } from '../generator/store/catalog/search/search.ts'
import { type Database, openDatabase } from '../generator/store/database/database.ts'

/** Search in small and large registries: what a request costs by what it asks for. */
const SIZES = [10_000, 200_000]
const ROUNDS = 300

/** Words of descriptions; the further back, the rarer, as in real text. */
const WORDS = Array.from({ length: 20_000 }, (_, i) => word(i + 1))
const COMMON = ['rust', 'library', 'for', 'a', 'the']

for (const size of SIZES) {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  try {
    const path = join(dir, 'plimsoll.db')
    await (await openDatabase(path)).destroy()
    const start = performance.now()
    const postings = fill(path, size)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const bytes = (statSync(path).size / 1024 ** 2).toFixed(0)
    console.log(`${size} crates, ${postings} postings, ${bytes} MiB, filled in ${seconds} s`)
    const database = await openDatabase(path)
    await fillBitmaps(database, size)
    await measure(database, size)
    await database.destroy()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function measure(database: Database, size: number): Promise<void> {
  const middle = nameOf(Math.floor(size / 2))
  const queries: [string, string, number][] = [
    ['exact name', middle, 0],
    ['beginning of names', middle.slice(0, 3), 0],
    ['one letter', middle.slice(0, 1), 0],
    ['rare word', WORDS[4_000] ?? '', 0],
    ['very common word', 'rust', 0],
    ['very common word, page 100', 'rust', 990],
    ['two words, one rare', `rust ${WORDS[4_000]}`, 0],
    ['two words, middling', `${WORDS[40]} ${WORDS[60]}`, 0],
    ['two very common words', 'rust library', 0],
    ['the same, page 100', 'rust library', 990],
    ['three very common words', 'rust library the', 0],
    ['common word, one letter', `rust ${middle.slice(0, 1)}`, 0],
    ['no match', 'qqqqqqqq', 0],
    ['empty', '', 0],
    ['empty, page 100', '', 990],
  ]
  for (const [what, query, offset] of queries) {
    const times: number[] = []
    let total = 0
    const used = process.cpuUsage()
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now()
      total = (await searchCrates(database, query, { limit: 10, offset })).total
      times.push(performance.now() - start)
    }
    times.sort((a, b) => a - b)
    // What the processor did, which a busy machine does not lengthen.
    const { user, system } = process.cpuUsage(used)
    const cpu = ((user + system) / 1000 / ROUNDS).toFixed(2).padStart(7)
    const at = (part: number) =>
      (times[Math.floor(times.length * part)] ?? 0).toFixed(2).padStart(8)
    console.log(
      `  ${what.padEnd(28)} ${String(total).padStart(7)} found  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  cpu ${cpu} ms`,
    )
  }
}

/** Fills the tables that a search reads, in bulk; the number of postings. */
function fill(path: string, size: number): number {
  const connection = new Libsql(path)
  connection.exec('PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; BEGIN')
  const crate = connection.prepare('INSERT INTO crates VALUES (?, ?, ?, ?, ?, 1)')
  const release = connection.prepare(
    "INSERT INTO releases VALUES (?, ?, '1.0.0', '1.0.0', '', 1, 0, '{}', ?, null, ?, null)",
  )
  const listing = connection.prepare('INSERT INTO listings VALUES (?, ?, ?, ?, ?, 1, 0, ?)')
  const found = new Map<string, number[]>()
  const time = '2026-11-20T12:00:00Z'
  for (let id = 1; id <= size; id++) {
    const name = nameOf(id)
    const [keywords, description] = [[wordAt(id, 1), wordAt(id, 2)], describe(id)]
    crate.run(id, name, name, name, time)
    release.run(id, id, JSON.stringify({ keywords, description }), time)
    listing.run(id, name, id, id, id, time)
    for (const [term, rank] of termsOf({ canonical: name, keywords, description, yanked: false })) {
      const list = found.get(term)
      if (list) list.push(rank, id)
      else found.set(term, [rank, id])
    }
  }
  const count = insertPostings(connection, found)
  connection.prepare("INSERT INTO prefixes (prefix, crates) VALUES ('', ?)").run(size)
  connection.exec('COMMIT')
  connection.close()
  return count
}

/** The bitmaps of common terms. */
async function fillBitmaps(database: Database, size: number): Promise<void> {
  await database.transaction().execute(async tx => {
    const common = await tx
      .selectFrom('terms')
      .select('id')
      .where('crates', '>=', BITMAPS_FROM)
      .execute()
    for (const { id } of common) await makeBitmaps(tx, id)
    for (let block = 0; block * BLOCK_CRATES <= size; block++) {
      const lengths = Buffer.alloc(BLOCK_CRATES)
      for (let at = 0; at < BLOCK_CRATES; at++)
        lengths[at] = nameOf(block * BLOCK_CRATES + at).length
      await tx.insertInto('name_lengths').values({ block, lengths }).execute()
    }
    const { bytes } = await tx
      .selectFrom('blocks')
      .select(sql<number>`sum(length(crates))`.as('bytes'))
      .executeTakeFirstOrThrow()
    console.log(`  ${common.length} common terms, ${(bytes / 1024 ** 2).toFixed(1)} MiB of bitmaps`)
  })
}

function insertPostings(
  connection: Libsql.Database,
  found: ReadonlyMap<string, readonly number[]>,
): number {
  const term = connection.prepare('INSERT INTO terms (id, term, crates) VALUES (?, ?, ?)')
  const posting = connection.prepare('INSERT INTO postings VALUES (?, ?, ?)')
  let [termId, count] = [0, 0]
  for (const [text, list] of found) {
    term.run(++termId, text, list.length / 2)
    const pairs: [number, number][] = []
    for (let at = 0; at < list.length; at += 2) pairs.push([list[at] ?? 0, list[at + 1] ?? 0])
    pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1])
    for (const [rank, id] of pairs) posting.run(termId, rank, id)
    count += pairs.length
  }
  return count
}

/** A pronounceable word, another for each number. */
function word(number: number): string {
  const syllables =
    'ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu'.split(' ')
  let text = ''
  for (let rest = number; rest > 0; rest = Math.floor(rest / 25)) text += syllables[rest % 25]
  return text.length < 4 ? `${text}s` : text
}

function nameOf(id: number): string {
  return id % 3 === 0 ? `${word(id)}_${word((id % 500) + 1)}` : `${word(id)}x`
}

/** Zipf's law: the word of rank r about 1/r as often as the first. */
function wordAt(id: number, at: number): string {
  const random = ((id * 2654435761 + at * 40503 * 65537) % 4294967296) / 4294967296
  return WORDS[Math.floor(WORDS.length ** random) - 1] ?? ''
}

function describe(id: number): string {
  const common = COMMON.filter((_, at) => (id + at) % (at + 2) !== 0)
  return [...common, ...Array.from({ length: 10 }, (_, at) => wordAt(id, at + 3))].join(' ')
}
