import { DATABASE_FILE } from '../registry.ts'
import { writeFact } from '../store/catalog/facts.ts'
import { refreshListings } from '../store/catalog/listing.ts'
import type { Database } from '../store/database/database.ts'
import { all, column, first, run } from '../store/database/statement.ts'
import type { Finding } from './finding.ts'

/** Most findings of one check: a torn file is torn in thousands of places. */
const MOST = 20

/**
 * Checks the database: SQLite's own checks of file and references, and the derived tables. Derived
 * data and indexes can be repaired; the rest needs a backup.
 */
export async function* verifyDatabase(database: Database, repair: boolean): AsyncIterable<Finding> {
  const faults = await integrity(database)
  if (repair && faults.length > 0) await run(database, 'REINDEX')
  const left = new Set(repair ? await integrity(database) : faults)
  for (const what of faults) {
    const isMended = !left.has(what)
    // Rows that an index does not have are all there in their table.
    const lost = !/index/.test(what)
    yield { where: DATABASE_FILE, what, lost: lost && !isMended, repaired: isMended }
  }
  yield* await references(database)
  yield* await derived(database, repair)
}

async function integrity(database: Database): Promise<string[]> {
  const text = `PRAGMA integrity_check(${MOST})`
  return (await column<string>(database, text)).filter(fault => fault !== 'ok')
}

async function references(database: Database): Promise<Finding[]> {
  const rows = await all<{ table: string; rowid: number | null; parent: string }>(
    database,
    `SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT ${MOST}`,
  )
  return rows.map(({ table, rowid, parent }) => ({
    where: DATABASE_FILE,
    what: `row ${rowid ?? '?'} of ${table} refers to a row of ${parent} that does not exist; restore a backup`,
    lost: true,
    repaired: false,
  }))
}

/** Lists and sums that are kept in the transaction of each change. */
async function derived(database: Database, repair: boolean): Promise<Finding[]> {
  const find = async () => {
    const found: string[] = []
    if (await first(database, WRONG_LISTINGS))
      found.push('what lists and searches read does not fit the releases')
    if (await first(database, WRONG_COUNTS))
      found.push('the numbers of crates, releases and terms are wrong')
    return found
  }
  const faults = await find()
  if (repair && faults.length > 0) {
    await writeFact(database, 'listings', null)
    await refreshListings(database)
    for (const what of COUNTED) {
      const counted = `(SELECT count(*) FROM ${what})`
      await run(database, `UPDATE counts SET n = ${counted} WHERE what = '${what}'`)
    }
  }
  const left = new Set(repair ? await find() : faults)
  return faults.map(what => ({
    where: DATABASE_FILE,
    what,
    lost: false,
    repaired: !left.has(what),
  }))
}

const WRONG_LISTINGS = `
  SELECT 1 FROM (SELECT crate_id, count(*) AS n, min(yanked) AS yanked
      FROM releases GROUP BY crate_id) AS have
    LEFT JOIN listings ON listings.crate_id = have.crate_id
    WHERE listings.versions IS NOT have.n OR listings.yanked IS NOT have.yanked
  UNION ALL SELECT 1 FROM listings LEFT JOIN releases ON releases.id = listings.newest_id
    WHERE releases.crate_id IS NOT listings.crate_id
  LIMIT 1`

const COUNTED = ['crates', 'releases', 'terms'] as const

const WRONG_COUNTS = COUNTED.map(
  what => `SELECT 1 FROM counts WHERE what = '${what}' AND n <> (SELECT count(*) FROM ${what})`,
).join(' UNION ALL ')
