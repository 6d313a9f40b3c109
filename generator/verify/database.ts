import type { Database } from '../database/connection.ts'
import { all, column, first, run } from '../database/statement.ts'
import { requireRead } from '../places/disk/sqlite-file.ts'
import type { BuildContext } from '../projections/context.ts'
import { type Records, refreshListings } from '../records/crate-change.ts'
import { sumDownloads } from '../records/downloads/count.ts'
import { STORED_COUNT } from '../records/releases-stored.ts'
import { WRONG_DOWNLOADS, WRONG_LISTINGS } from '../records/releases-view.ts'
import { writeValue } from '../records/values.ts'
import { DATABASE_FILE } from '../registry/folder.ts'
import { derivable, type Finding, lost } from './finding.ts'

const RESTORE = 'restore a backup'

/** The most findings of one check: a damaged file may have thousands of faults. */
const MOST = 20
const CHECK = `PRAGMA integrity_check(${MOST})`

/**
 * Checks the database: SQLite's own checks of a file and its references, and the derived tables.
 * Derived data and indexes can be repaired; everything else needs a backup.
 */
export async function* verifyDatabase(
  records: Records & Pick<BuildContext, 'isShared'>,
  repair: boolean,
): AsyncIterable<Finding> {
  const { database } = records
  if (!records.isShared) yield* verifyFile(database, repair)
  yield* await mend(
    repair,
    () => wrongSums(database),
    () => sumAgain(records),
  )
}

/** Checks SQLite's file; a server checks its own files and keeps references intact. */
async function* verifyFile(database: Database, repair: boolean): AsyncIterable<Finding> {
  // A damaged index can be repaired: its rows are still in the table.
  const broken = await mend(
    repair,
    async () =>
      (await column<string>(database, CHECK)).filter(fault => requireRead(fault) !== 'ok'),
    () => run(database, 'REINDEX'),
  )
  for (const finding of broken) {
    const isLost = !finding.repaired && !/index/.test(finding.what)
    yield isLost ? lost(finding.where, `${finding.what}; ${RESTORE}`) : finding
  }
  yield* await references(database)
}

/** Returns the findings of `find`; with `repair`, those gone after `work` are repaired. */
async function mend(
  repair: boolean,
  find: () => Promise<string[]>,
  work: () => Promise<unknown>,
): Promise<Finding[]> {
  const faults = await find()
  if (repair && faults.length > 0) await work()
  const left = new Set(repair ? await find() : faults)
  return faults.map(what => derivable(DATABASE_FILE, what, !left.has(what)))
}

async function references(database: Database): Promise<Finding[]> {
  const sql = `SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT ${MOST}`
  const rows = await all<{ table: string; rowid: number | null; parent: string }>(database, sql)
  return rows.map(({ table, rowid, parent }) =>
    lost(
      DATABASE_FILE,
      `row ${rowid ?? '?'} of ${table} refers to a row of ${parent} that does not exist; ${RESTORE}`,
    ),
  )
}

async function wrongSums(database: Database): Promise<string[]> {
  const faults: string[] = []
  if (await first(database, WRONG_LISTINGS))
    faults.push('the data for lists and searches does not match the releases')
  if (await first(database, WRONG_COUNT)) faults.push('the number of releases is wrong')
  if (await first(database, WRONG_DOWNLOADS))
    faults.push('the downloads of crates do not match those of their versions')
  return faults
}

async function sumAgain(records: Records): Promise<void> {
  const { database } = records
  await writeValue(database, 'listings', null)
  await refreshListings(records)
  for (const crateId of await column<number>(database, WRONG_DOWNLOADS))
    await database.transaction(tx => sumDownloads(tx, crateId, new Date()))
  await run(database, `UPDATE counts SET n = ${STORED_COUNT} WHERE what = 'releases'`)
}

const WRONG_COUNT = `SELECT 1 FROM counts WHERE what = 'releases' AND n <> ${STORED_COUNT}`
