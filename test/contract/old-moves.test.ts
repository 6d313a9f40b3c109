// Mirrors generator/database/steps.ts: databases that an earlier version has moved.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openDatabase } from '../../generator/database/database.ts'
import { PLIMSOLL_SCHEMA } from '../../generator/database/migrations.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import { column, type Queries, run } from '../../generator/database/statement.ts'
import { openRegistry } from '../../generator/open.ts'
import { serverSettings } from '../support/engine.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { refusedWith } from '../support/refusal.ts'
import { addAndShow, newRegistry } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

const OLDER = {
  version: '0.1.0',
  steps: Object.fromEntries(Object.entries(PLIMSOLL_SCHEMA.steps).filter(([name]) => name < '028')),
}

/** Makes a database what version 027 has left in the middle of a move, or after its end. */
async function leaveMove(db: Queries, side: string, at: string | null): Promise<void> {
  const key = (row: string) => `INSERT INTO changed_rows (tab, key)
    VALUES ('crates', CAST(${row}.id AS TEXT));`
  for (const text of [
    `CREATE TABLE changed_rows (
      id INTEGER PRIMARY KEY AUTOINCREMENT, tab TEXT NOT NULL, key TEXT NOT NULL)`,
    `CREATE TRIGGER changed_crates_insert AFTER INSERT ON crates BEGIN ${key('NEW')} END`,
    `CREATE TRIGGER changed_crates_delete AFTER DELETE ON crates BEGIN ${key('OLD')} END`,
    ...(at === null
      ? []
      : [
          `CREATE TRIGGER changed_rows_closed AFTER INSERT ON changed_rows
            BEGIN SELECT RAISE(ABORT, 'these records were moved'); END`,
        ]),
    `CREATE TABLE moves (
      id TEXT NOT NULL, side TEXT NOT NULL, place TEXT NOT NULL, ended_at TEXT,
      last INTEGER NOT NULL)`,
  ])
    await run(db, text)
  const text = 'INSERT INTO moves (id, side, place, ended_at, last) VALUES (?, ?, ?, ?, 0)'
  await run(db, text, 'one', side, 'postgres://there', at)
}

/** A registry folder, and the environment that has its records on a server or in a file. */
async function place(t: TestContext, engine: 'file' | 'server') {
  const { dir } = await newRegistry(t)
  for (const end of ['', '-wal', '-shm']) rmSync(join(dir, `plimsoll.db${end}`), { force: true })
  const url = engine === 'server' ? await server.create(`old_${count++}`) : ''
  const env = { PLIMSOLL_DATABASE_URL: url }
  const open = () => openRegistry(dir, { env })
  const older = () =>
    engine === 'server'
      ? openPostgres(serverSettings(url), OLDER)
      : openDatabase(`${dir}/plimsoll.db`, OLDER)
  const leave = async (side: string, at: string | null) => {
    const database = await older()
    await leaveMove(database, side, at)
    await database.close()
  }
  return { open, older, leave }
}
let count = 0

for (const engine of ['file', 'server'] as const) {
  test(`a move that an earlier version had begun is given up, in a ${engine}`, {
    skip,
  }, async t => {
    const { open, leave } = await place(t, engine)
    await leave('leaving', null)
    const registry = await open()
    t.after(() => registry.close())
    await addAndShow(registry, { name: 'demo', version: '1.0.0' })
    const names = await column<string>(registry.database, 'SELECT name FROM sqlite_master')
    if (engine === 'server')
      names.push(...(await column<string>(registry.database, 'SELECT tgname FROM pg_trigger')))
    assert.doesNotMatch(names.join('\n'), /^(?:moves$|changed_)/m)
  })

  test(`records that an earlier version has moved stay closed, in a ${engine}`, {
    skip,
  }, async t => {
    const { open, older, leave } = await place(t, engine)
    await leave('leaving', '2026-11-20T12:00:00Z')
    await assert.rejects(open(), refusedWith('records_moved'))
    await assert.rejects(older(), refusedWith('registry_newer'))
    const copy = await place(t, engine)
    await copy.leave('coming', null)
    await assert.rejects(copy.open(), refusedWith('move_unfinished'))
  })
}
