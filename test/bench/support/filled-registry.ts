import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type Libsql from 'libsql'
import { beginnings, canonicalName, type Name } from '../../../core/name.ts'
import { lookAlikeSkeleton } from '../../../core/policy/look-alike.ts'
import { run } from '../../../generator/database/statement.ts'
import { openRegistry } from '../../../generator/open.ts'
import { pagesFingerprint } from '../../../generator/pages/claim.ts'
import { openSqlite } from '../../../generator/places/disk/sqlite-file.ts'
import { listOutputs } from '../../../generator/projections/lists/letters.ts'
import { beginWhole } from '../../../generator/projections/search/files.ts'
import { writeValue } from '../../../generator/records/values.ts'
import { DATABASE_FILE } from '../../../generator/registry/folder.ts'
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
  const name = `registry-${size}-${fingerprint()}`
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
  await writeValue(registry.database, 'pages', pagesFingerprint(registry))
  await registry.close()
  return { dir, token: readFileSync(token, 'utf8') }
}

/** Returns a hash over the code that makes the tables and fills them; a start renews the rest. */
function fingerprint(): string {
  const hash = createHash('sha256')
  for (const file of [
    ...['./filled-registry.js', './invented-crates.js', './term-filler.js'],
    ...['../../../core/search/terms.js', '../../../core/search/ranks.js'],
    ...['../../../core/search/layout.js', '../../../core/search/postings.js'],
    ...['step', 'steps'].map(name => `../../../generator/database/${name}.js`),
  ])
    hash.update(readFileSync(new URL(file, import.meta.url)))
  return hash.digest('hex').slice(0, 12)
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
  const connection = openSqlite(path)
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
  for (const crate of inventedCrates(size)) filler.add(crate, dependenciesOf(crate))
  filler.finish()
  for (const { sql } of extras) connection.exec(sql)
  connection.exec("UPDATE counts SET n = (SELECT count(*) FROM releases) WHERE what = 'releases'")
  connection.exec('COMMIT')
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  connection.close()
}

/** Returns the canonical names of the crates that the newest version depends on. */
function dependenciesOf({ name, isYanked, releases }: InventedCrate): Set<string> {
  const names = isYanked ? [] : (releases.at(-1)?.dependencies ?? [])
  const taken = new Set<string>(names.map(name => canonicalName(name as Name)))
  taken.delete(canonicalName(name as Name))
  return taken
}

/** Makes the rows of each table. */
class Filler {
  readonly #connection: Libsql.Database
  readonly #statements = new Map<string, Libsql.Statement>()
  readonly #terms: TermFiller
  readonly #prefixes = new Map<string, number>()
  readonly #dependents: ReadonlyMap<string, number>
  #crateId = 0
  #releaseId = 0
  #event: number

  constructor(connection: Libsql.Database, dependents: ReadonlyMap<string, number>) {
    this.#dependents = dependents
    this.#connection = connection
    this.#terms = new TermFiller(connection)
    const count = connection.prepare('SELECT coalesce(max(id), 0) AS n FROM audit').get()
    this.#event = (count as { n: number }).n
  }

  add({ name, about, isYanked, releases }: InventedCrate, needs: ReadonlySet<string>): void {
    const [id, canonical] = [++this.#crateId, canonicalName(name as Name)]
    const yanked = Number(isYanked)
    const aboutText = JSON.stringify(about)
    for (const { version, cksum, line, time } of releases) {
      const row = { id: ++this.#releaseId, crate_id: id, version, identity: version, cksum, line }
      const rest = { size: 10_000, yanked, about: aboutText, published_at: time, published_by: 1 }
      this.#insert('releases', { ...row, ...rest })
      const event = { id: ++this.#event, at: time, action: 'publish', user_id: 1, actor: 'bench' }
      this.#insert('audit', { ...event, crate: name, version })
    }
    const [first, last] = [releases[0]?.time ?? '', releases.at(-1)?.time ?? '']
    const skeleton = lookAlikeSkeleton(name as Name)
    const crate = { id, name, canonical, skeleton, created_at: first, generation: this.#event }
    this.#insert('crates', crate)
    this.#insert('owners', { crate_id: id, user_id: 1, added_at: first })
    const dependents = this.#dependents.get(canonical) ?? 0
    const newest = this.#releaseId
    this.#insert('listings', {
      ...{ crate_id: id, canonical, newest_id: newest, latest_id: newest },
      ...{ stable_id: isYanked ? null : newest, versions: releases.length, yanked },
      ...{ updated_at: last, dependents },
    })
    for (const dependency of needs)
      this.#insert('dependents', { dependency, dependent: canonical, crate_id: id })
    this.#terms.add(id, { canonical, ...about, yanked: isYanked, dependents })
    for (const prefix of beginnings(canonical))
      this.#prefixes.set(prefix, (this.#prefixes.get(prefix) ?? 0) + 1)
  }

  /** Writes the data collected over all crates. */
  finish(): void {
    this.#terms.finish(this.#connection)
    for (const [prefix, crates] of this.#prefixes) this.#insert('prefixes', { prefix, crates })
  }

  /** All rows of a table have the same columns, in the same order. */
  #insert(table: string, row: Readonly<Record<string, string | number | null>>): void {
    let statement = this.#statements.get(table)
    if (!statement) {
      const columns = Object.keys(row)
      const marks = columns.map(() => '?')
      statement = this.#connection.prepare(`INSERT INTO ${table} (${columns}) VALUES (${marks})`)
      this.#statements.set(table, statement)
    }
    statement.run(...Object.values(row))
  }
}
