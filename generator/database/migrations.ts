import { refuse } from '../../core/error/error.ts'
import { VERSION } from '../version.ts'
import type { Database } from './connection.ts'
import { describeDaemon, listDaemons, type SeenDaemon } from './daemons.ts'
import { column, first, type Queries, run, value } from './statement.ts'
import type { Step } from './step.ts'
import { steps } from './steps.ts'

/** A program, as far as a database is concerned. */
export interface SchemaOwner {
  readonly version: string
  /** The steps that it knows by name, in order. */
  readonly steps: Readonly<Record<string, Step>>
}

/** The steps of a database, for programs that do not know all of them. */
interface SchemaRecord {
  readonly newest: string
  /** The step that a program has to know. */
  readonly oldest: string
}

/** Told before older records are upgraded; throws a `Refusal` if they have to stay as they are. */
export type BeforeUpgrade = (db: Queries, from: string, to: string) => Promise<void>

/** The first step: databases from before it are not upgraded. */
const FIRST = '026_found'

/** The steps that a database has, as programs with Kysely kept them. */
const STEPS_TABLE = `CREATE TABLE IF NOT EXISTS kysely_migration
  (name VARCHAR(255) PRIMARY KEY NOT NULL, timestamp VARCHAR(255) NOT NULL)`

/** Returns the last step that a program knows. */
export function levelOf({ steps }: SchemaOwner): string {
  return Object.keys(steps).sort().at(-1) ?? ''
}

/**
 * Migrates the schema in one transaction. Leaves a newer one as it is if it has only been expanded,
 * else refuses it; refuses to contract it while daemons serve that would not work afterwards.
 */
export async function migrate(
  database: Database,
  file: string,
  owner: SchemaOwner = PLIMSOLL_SCHEMA,
  beforeUpgrade?: BeforeUpgrade,
): Promise<void> {
  const done = await stepsDone(database)
  const last = done.at(-1)
  if (await isNewer(database, file, owner, done)) return
  if (last !== undefined && last !== levelOf(owner))
    await beforeUpgrade?.(database, `the step ${last}`, `the step ${levelOf(owner)}`)
  if (Object.keys(owner.steps).every(name => done.includes(name))) return
  await database.transaction(async tx => {
    await run(tx, STEPS_TABLE)
    // Another process may have taken some meanwhile.
    const taken = new Set(await stepsDone(tx))
    for (const name of Object.keys(owner.steps).sort())
      if (!taken.has(name)) await takeStep(tx, name, owner)
  })
}

async function takeStep(db: Queries, name: string, owner: SchemaOwner): Promise<void> {
  const step = owner.steps[name] as Step
  const { oldest } = step
  if (oldest !== undefined) {
    const older = (await listDaemons(db)).filter(daemon => daemon.schema < oldest)
    requireNone(older, owner, `the step ${name} of its database`)
  }
  await step.up(db)
  const insert = 'INSERT INTO kysely_migration (name, timestamp) VALUES (?, ?)'
  await run(db, insert, name, new Date().toISOString())
  const before = (await readRecord(db))?.oldest ?? name
  await run(db, 'DELETE FROM schema_record')
  const sql = 'INSERT INTO schema_record (newest, oldest) VALUES (?, ?)'
  await run(db, sql, name, oldest ?? before)
}

/** Refuses work after which these daemons could not go on. */
export function requireNone(
  daemons: readonly SeenDaemon[],
  { version }: SchemaOwner,
  work: string,
): void {
  if (daemons.length === 0) return
  refuse('upgrade_held', { version, work, daemons: daemons.map(describeDaemon).join('; ') })
}

async function stepsDone(database: Queries): Promise<string[]> {
  const table = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'kysely_migration'`
  if ((await value(database, table)) === null) return []
  return column(database, 'SELECT name FROM kysely_migration ORDER BY name')
}

/** Returns whether a newer program expanded the schema; refuses a schema that is too new. */
async function isNewer(
  database: Queries,
  file: string,
  owner: SchemaOwner,
  done: readonly string[],
): Promise<boolean> {
  if (done.length > 0 && !done.includes(FIRST)) refuse('registry_too_old', { file, first: FIRST })
  const unknown = done.filter(name => name > levelOf(owner))
  if (unknown.length === 0) return false
  const isWhole = Object.keys(owner.steps).every(name => done.includes(name))
  const record = isWhole ? await readRecord(database) : null
  const isExpanded = record?.newest === done.at(-1) && isKnown(record?.oldest, owner)
  if (isExpanded) return true
  return refuse('registry_newer', { file, running: owner.version, steps: unknown.join(', ') })
}

function readRecord(db: Queries): Promise<SchemaRecord | null> {
  return first(db, 'SELECT newest, oldest FROM schema_record')
}

function isKnown(oldest: string | undefined, owner: SchemaOwner): boolean {
  return oldest !== undefined && oldest <= levelOf(owner)
}

/** Refuses a database that has been contracted since a program has opened it. */
export async function requireSchema(db: Queries, file: string, owner: SchemaOwner): Promise<void> {
  const oldest = (await readRecord(db))?.oldest
  if (isKnown(oldest, owner)) return
  refuse('registry_newer', { file, running: owner.version, steps: oldest ?? 'its steps' })
}

/** This program's schema. */
export const PLIMSOLL_SCHEMA: SchemaOwner = { version: VERSION, steps }
