import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { issue, Refusal } from '../../../core/error/error.ts'
import { newestVersion, type Version } from '../../../core/version.ts'
import { openDatabase } from '../../../generator/database/database.ts'
import { PLIMSOLL_SCHEMA } from '../../../generator/database/migrations.ts'
import { all, column, run } from '../../../generator/database/statement.ts'
import { refreshListings } from '../../../generator/records/crate-change.ts'
import { folderOf } from '../../support/workplace.ts'

/** The program before `max_id`. */
const OLDER = {
  version: '0.1.0',
  steps: Object.fromEntries(Object.entries(PLIMSOLL_SCHEMA.steps).filter(([name]) => name < '030')),
}

/** The versions of crates, and the highest if it is not the newest. */
const CRATES = [
  [['1.0.0', '2.0.0-rc.1', '2.0.0-rc.10', '2.0.0-rc.9'], '2.0.0-rc.10'],
  [['1.0.0-rc.1', '1.0.0+build-1'], null],
  [['1.0.0', '2.0.0-rc.1 yanked'], null],
  [['0.1.0-alpha.2', '0.1.0-alpha.1'], null],
] as const

test('an upgrade finds the highest version of each crate, and counts no weeks', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const older = await openDatabase(path, OLDER)
  for (const [at, [texts]] of CRATES.entries()) {
    const crate = `INSERT INTO crates (id, name, canonical, skeleton, created_at, generation)
      VALUES (?, ?, ?, ?, '', 1)`
    await run(older, crate, at + 1, ...Array(3).fill(`c${at}`))
    const versions = texts.map((text, place) => ({
      id: 10 * at + place,
      version: text.split(' ')[0] as Version,
      yanked: text.endsWith('yanked'),
    }))
    for (const { id, version, yanked } of versions)
      await run(
        older,
        `INSERT INTO releases (id, crate_id, version, identity, cksum, size, yanked, line, about)
          VALUES (?, ?, ?, ?, '', 1, ?, '{"deps":[]}', '{}')`,
        ...[id, at + 1, version, version.replace(/\+.*/, ''), Number(yanked)],
      )
    const newest = newestVersion(versions)
    const stable = newest?.version.includes('-alpha') ? null : (newest?.id ?? null)
    const listing = `INSERT INTO listings (crate_id, canonical, newest_id, latest_id, stable_id,
        versions, yanked, updated_at)
      VALUES (?, ?, ?, ?, ?, 1, 0, '')`
    await run(older, listing, at + 1, `c${at}`, ...[newest?.id ?? 0, newest?.id ?? 0, stable])
  }
  await older.close()
  const database = await openDatabase(path)
  t.after(() => database.close())
  const left = "SELECT name FROM sqlite_master WHERE name LIKE '%week%' OR name LIKE 'crates_%r%e'"
  assert.deepEqual(await column(database, left), [])
  const counted = 'SELECT what, n FROM counts ORDER BY what'
  assert.deepEqual(await all(database, counted), [
    { what: 'bytes', n: 10 },
    { what: 'releases', n: 10 },
    { what: 'search', n: 0 },
  ])
  await refreshListings({ database, followers: [] })
  const sql = `SELECT version FROM listings LEFT JOIN releases ON releases.id = max_id
    ORDER BY listings.crate_id`
  const expected = CRATES.map(([, highest]) => highest)
  assert.deepEqual(await column(database, sql), expected)
})

test('a database from before step 026 is refused, and nothing is changed', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const older = await openDatabase(path)
  await run(older, 'DELETE FROM kysely_migration')
  await run(older, "INSERT INTO kysely_migration VALUES ('025_schema_record', '2026-11-20')")
  await older.close()
  const refusal = new Refusal([issue('registry_too_old', { file: path, first: '026_found' })])
  await assert.rejects(openDatabase(path), refusal)
})
