// Mirrors generator/database/copy.ts: what a server reads to find what has changed
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { resolveSettings } from '../../../../core/settings/settings.ts'
import { copyDifference, keepState } from '../../../../generator/database/copy.ts'
import { openDatabase } from '../../../../generator/database/database.ts'
import { openPostgres, openSnapshot } from '../../../../generator/database/postgres/open.ts'
import { run, value } from '../../../../generator/database/statement.ts'
import { postgresSuite } from '../../../support/postgres-suite.ts'
import { folderOf } from '../../../support/workplace.ts'

const { server, skip } = postgresSuite()
const ROWS = 5000

test('a server reads each row a few times to compare it, also where it guesses few rows', {
  skip,
}, async t => {
  const settings = resolveSettings({}).settings.database
  const place = { ...settings, url: await server.create('difference') }
  const database = await openPostgres(place)
  // Nothing but the second column tells these rows apart.
  const sql = `INSERT INTO requirements SELECT 0, 'crate-' || n, 1, '^1'
    FROM generate_series(1, ${ROWS}) AS n`
  await run(database, sql)
  await run(database, 'ANALYZE requirements')
  const [from, to] = [openSnapshot(place), await openDatabase(join(folderOf(t), 'to.db'))]
  t.after(() => Promise.all([database, from, to].map(each => each.close())))
  await from.during(() => keepState(from))
  await run(database, "UPDATE requirements SET text = '^2' WHERE dependency = 'crate-7'")
  await run(
    to,
    "INSERT INTO requirements SELECT 0, 'crate-' || value, 1, '^1' FROM json_each(?)",
    [...Array(ROWS).keys()].map(n => n + 1),
  )
  const read = `SELECT CAST(sum(seq_tup_read + idx_tup_fetch) AS bigint)
    FROM pg_stat_xact_user_tables WHERE relname = 'before_requirements'`
  await from.during(async () => {
    await to.transaction(tx => copyDifference(from, tx))
    const reads = await value<number>(from.queries, read)
    assert.ok(reads !== null && reads <= 10 * ROWS, `${reads} rows read`)
  })
  const changed = "SELECT dependency FROM requirements WHERE text = '^2'"
  assert.equal(await value(to, changed), 'crate-7')
})
