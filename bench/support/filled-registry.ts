import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { canonicalName, type Name } from '../../core/name.ts'
import { lookAlikeSkeleton } from '../../core/policy/look-alike.ts'
import { openDatabase } from '../../generator/database/database.ts'
import { run } from '../../generator/database/statement.ts'
import { pagesFingerprint } from '../../generator/pages/claim.ts'
import { listOutputs } from '../../generator/projections/lists/letters.ts'
import { beginWhole } from '../../generator/projections/search/layouts.ts'
import { writeFact } from '../../generator/records/facts.ts'
import { beginnings } from '../../generator/records/pages/prefixes.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { openRegistry } from '../../generator/registry/registry.ts'
import { type InventedCrate, inventedCrates } from './invented-crates.ts'
import { CACHE, newRegistry, startDaemon } from './registry.ts'
import { TermFiller } from './term-filler.ts'

/** A registry with invented crates, without their bytes, and a token that may publish there. */
export interface FilledRegistry {
  readonly dir: string
  readonly token: string
}

/** A fixed address for readers of such a registry, which does not change with every start. */
export const BASE_URL = 'http://127.0.0.1:8080'

/**
 * A registry of `size` invented crates, with all records and the data of lists and searches, as if
 * all were rendered. It is made once and kept in the user's cache until the code that makes it
 * changes: copy it before you change it.
 */
export async function filledRegistry(size: number): Promise<FilledRegistry> {
  const name = `registry-${size}-${await fingerprint()}`
  const dir = join(CACHE, 'bench', name)
  const token = join(dir, 'token')
  if (!existsSync(token)) {
    mkdirSync(join(CACHE, 'bench'), { recursive: true })
    for (const old of readdirSync(join(CACHE, 'bench')))
      if (old.startsWith(`registry-${size}-`))
        rmSync(join(CACHE, 'bench', old), { recursive: true })
    console.log(`making a registry of ${size} crates, once …`)
    await make(`${dir}.new`, size)
    renameSync(`${dir}.new`, dir)
  }
  // Other styles or texts make the pages outdated: a daemon would render all of them during the
  // measurement.
  const registry = await openRegistry(dir, { env: {} })
  await writeFact(registry.database, 'pages', pagesFingerprint(registry))
  await registry.close()
  return { dir, token: readFileSync(token, 'utf8') }
}

/** Returns a hash over the tables and the code that fills them; a start renews the rest. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of [
    './filled-registry.js',
    './invented-crates.js',
    './term-filler.js',
    '../../core/search/terms.js',
    '../../core/search/files/columns.js',
    '../../core/search/files/layout.js',
    '../../core/search/files/postings.js',
  ])
    hash.update(readFileSync(new URL(file, import.meta.url)))
  hash.update(await emptySchema())
  return hash.digest('hex').slice(0, 12)
}

/** The tables of a new database, as SQLite writes them. */
async function emptySchema(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  try {
    const path = join(folder, DATABASE_FILE)
    const database = await openDatabase(path)
    await database.close()
    const connection = new Libsql(path)
    const rows = connection.prepare('SELECT sql FROM sqlite_master ORDER BY name').all()
    connection.close()
    return JSON.stringify(rows)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function make(dir: string, size: number): Promise<void> {
  const token = await newRegistry(dir, { 'registry.base_url': BASE_URL })
  // All that belongs to a registry besides its crates: facts, the files of an empty one.
  await settle(dir)
  const path = join(dir, DATABASE_FILE)
  fill(path, size)
  const registry = await openRegistry(dir, { env: {} })
  await registry.database.transaction(async tx => {
    await beginWhole(tx)
    // The search's tables are filled already; only its files are left to render.
    await run(tx, "DELETE FROM marks WHERE kind = 'search' AND subject <= ?", size)
  })
  // The first publish would render all missing lists during the measurement.
  await registry.tree.batch(async tree => {
    for await (const list of listOutputs({ ...registry, tree })) await tree.write(list)
  })
  await registry.close()
  await settle(dir)
  writeFileSync(join(dir, 'token'), token)
}

async function settle(dir: string): Promise<void> {
  const daemon = await startDaemon(dir)
  await daemon.quiet()
  await daemon.stop()
}

/** Fills the tables in bulk: without indexes and triggers, which are made again at the end. */
function fill(path: string, size: number): void {
  const connection = new Libsql(path)
  connection.exec(
    'PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -500000',
  )
  connection.exec('BEGIN')
  const extras = connection
    .prepare(
      `SELECT type, name, sql FROM sqlite_master
        WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`,
    )
    .all() as { type: string; name: string; sql: string }[]
  for (const { type, name } of extras) connection.exec(`DROP ${type} ${name}`)
  const dependents = new Map<string, number>()
  for (const crate of inventedCrates(size))
    for (const name of dependenciesOf(crate)) dependents.set(name, (dependents.get(name) ?? 0) + 1)
  const filler = new Filler(connection, dependents)
  for (const crate of inventedCrates(size)) filler.add(crate)
  filler.finish()
  for (const { sql } of extras) connection.exec(sql)
  for (const table of ['crates', 'releases'])
    connection.exec(`UPDATE counts SET n = (SELECT count(*) FROM ${table}) WHERE what = '${table}'`)
  connection.exec('COMMIT')
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  connection.close()
}

/** Returns the canonical names of the crates that the newest version depends on. */
function dependenciesOf({ name, isYanked, releases }: InventedCrate): Set<string> {
  const names = isYanked ? [] : (releases.at(-1)?.dependencies ?? [])
  const found = new Set<string>(names.map(name => canonicalName(name as Name)))
  found.delete(canonicalName(name as Name))
  return found
}

/** Makes the row of each table, in the order of its columns; see `Tables`. */
class Filler {
  readonly #connection: Libsql.Database
  readonly #insert: Record<
    'crates' | 'owners' | 'releases' | 'audit' | 'listings' | 'dependents',
    Libsql.Statement
  >
  readonly #terms: TermFiller
  readonly #prefixes = new Map<string, number>()
  readonly #dependents: ReadonlyMap<string, number>
  #crateId = 0
  #releaseId = 0
  #event = 0

  constructor(connection: Libsql.Database, dependents: ReadonlyMap<string, number>) {
    this.#dependents = dependents
    const insert = (table: string, columns: string) =>
      connection.prepare(
        `INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')})`,
      )
    this.#connection = connection
    this.#terms = new TermFiller(connection)
    this.#insert = {
      crates: insert('crates', 'id, name, canonical, skeleton, created_at, generation'),
      owners: insert('owners', 'crate_id, user_id, added_at'),
      releases: insert(
        'releases',
        'id, crate_id, version, identity, cksum, size, yanked, line, about, published_at, published_by',
      ),
      audit: insert('audit', 'id, at, action, user_id, actor, crate, version'),
      listings: insert(
        'listings',
        'crate_id, canonical, newest_id, latest_id, stable_id, versions, yanked, updated_at, dependents',
      ),
      dependents: insert('dependents', 'dependency, dependent, crate_id'),
    }
    const count = connection.prepare('SELECT coalesce(max(id), 0) AS n FROM audit').get()
    this.#event = (count as { n: number }).n
  }

  add(crate: InventedCrate): void {
    const { name, about, isYanked, releases } = crate
    const [id, canonical] = [++this.#crateId, canonicalName(name as Name)]
    const yanked = Number(isYanked)
    const aboutText = JSON.stringify(about)
    for (const { version, cksum, line, time } of releases) {
      this.#releaseId++
      this.#insert.releases.run(
        ...[this.#releaseId, id, version, version, cksum, 10_000, yanked, line, aboutText, time, 1],
      )
      this.#insert.audit.run(++this.#event, time, 'publish', 1, 'bench', name, version)
    }
    const [first, last] = [releases[0]?.time ?? '', releases.at(-1)?.time ?? '']
    const skeleton = lookAlikeSkeleton(name as Name)
    this.#insert.crates.run(id, name, canonical, skeleton, first, this.#event)
    this.#insert.owners.run(id, 1, first)
    const dependents = this.#dependents.get(canonical) ?? 0
    const [newest, stable] = [this.#releaseId, isYanked ? null : this.#releaseId]
    this.#insert.listings.run(
      ...[id, canonical, newest, newest, stable, releases.length, yanked, last, dependents],
    )
    for (const dependency of dependenciesOf(crate))
      this.#insert.dependents.run(dependency, canonical, id)
    this.#terms.add(id, { canonical, ...about, yanked: isYanked, dependents })
    for (const prefix of beginnings(canonical))
      this.#prefixes.set(prefix, (this.#prefixes.get(prefix) ?? 0) + 1)
  }

  /** Writes the data collected over all crates. */
  finish(): void {
    const prepare = (text: string) => this.#connection.prepare(text)
    this.#terms.finish(this.#connection)
    const prefix = prepare('INSERT INTO prefixes (prefix, crates) VALUES (?, ?)')
    for (const [text, crates] of this.#prefixes) prefix.run(text, crates)
  }
}
