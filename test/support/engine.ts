import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../generator/database/database.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import type { ServerSettings } from '../../generator/database/postgres/server.ts'
import { execute, startPostgres, type TestServer } from './postgres.ts'

/**
 * The URL of a PostgreSQL server's databases, with `DATABASE` for the name of one, when the tests
 * run on PostgreSQL (PLIMSOLL_TEST_DATABASE=postgres); `scripts/test.mjs` starts it.
 */
const server = process.env.PLIMSOLL_TEST_SERVER ?? null

/** Whether the records of tests are on PostgreSQL. */
export const isOnPostgres = server !== null

/** The database with all tables that new databases are copies of. */
export const TEMPLATE = 'plimsoll_template'

/** Starts a PostgreSQL server with the template of all tests' databases. */
export async function startTemplate(): Promise<TestServer> {
  const started = await startPostgres()
  await started.create(TEMPLATE)
  await (await openPostgres(serverSettings(started.url(TEMPLATE)))).close()
  return started
}

/** A database for one test, as settings of a registry. */
export interface TestDatabase {
  /** For `initRegistry`; nothing when the records are a file. */
  readonly settings: Readonly<Record<string, string>>
  /** Drops it, also under open connections. */
  readonly drop: () => Promise<void>
}

let count = 0

let empty: Promise<Buffer> | null = null

/** Writes the file of a database without records: to take all steps takes longer than most tests. */
export async function writeEmptyFile(path: string): Promise<void> {
  empty ??= readEmptyFile()
  writeFileSync(path, await empty)
}

async function readEmptyFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-empty-'))
  const path = join(folder, 'empty.db')
  const database = await openDatabase(path)
  await database.execute('PRAGMA wal_checkpoint(TRUNCATE)', [])
  await database.close()
  const bytes = readFileSync(path)
  rmSync(folder, { recursive: true })
  return bytes
}

/** Returns a new database on the engine of this run, on a server a copy of `template`. */
export async function newDatabase(template = TEMPLATE): Promise<TestDatabase> {
  if (server === null) return { settings: {}, drop: async () => {} }
  const name = `test_${process.pid}_${++count}`
  const root = server.replace('DATABASE', 'postgres')
  await execute(root, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  return {
    settings: { 'database.url': server.replace('DATABASE', name) },
    drop: async () => void (await execute(root, `DROP DATABASE ${name} WITH (FORCE)`)),
  }
}

/** The settings of a server at a URL, otherwise as by default. */
export function serverSettings(url: string): ServerSettings {
  const files = { password_file: null, ca_file: null }
  return { ...files, url, sslmode: 'auto', pool: 5, statement_seconds: 30, lock_seconds: 10 }
}
