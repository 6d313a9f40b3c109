// Mirrors generator/database/sqlite.ts and generator/database/database.ts
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, fstatSync, statSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { issue, Refusal } from '../../../core/error/error.ts'
import { openDatabase } from '../../../generator/database/database.ts'
import { PLIMSOLL_SCHEMA } from '../../../generator/database/migrations.ts'
import { all, type Queries, type Row, run, value } from '../../../generator/database/statement.ts'
import { openSqlite } from '../../../generator/places/disk/sqlite-file.ts'
import {
  countFailedMarks,
  dueMarks,
  marksOf,
  nextRetry,
  postponeMark,
  setMarks,
} from '../../../generator/records/marks.ts'
import { isWaiting } from '../../support/event-loop.ts'
import { root } from '../../support/plimsoll.ts'
import { refusedWith } from '../../support/refusal.ts'
import { insertRows } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { folderOf } from '../../support/workplace.ts'

const SQLITE_FILE = join(root, 'dist', 'generator', 'places', 'disk', 'sqlite-file.js')
const DATABASE = join(root, 'dist', 'generator', 'database', 'database.js')

async function open(t: Parameters<typeof folderOf>[0], path: string) {
  const database = await openDatabase(path)
  t.after(() => database.close())
  return database
}

test('the file is in WAL mode, synced by us for each commit; foreign keys hold', async t => {
  const database = await open(t, join(folderOf(t), 'new', 'plimsoll.db'))
  const pragma = (name: string) => value(database, `PRAGMA ${name}`)
  assert.equal(await pragma('journal_mode'), 'wal')
  assert.equal(await pragma('synchronous'), 1)
  assert.equal(await pragma('foreign_keys'), 1)
  const orphan = { crate_id: 7, user_id: 7, added_at: '' }
  await assert.rejects(insertRows(database, 'owners', orphan), {
    code: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  })
})

test('a transaction ends when the log is on disk, and those that meet share a sync', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const database = await open(t, path)
  const add = (key: string) => insertRows(database, 'facts', { key, value: '' })
  await add('first')
  const file = await openFile(path)
  const syncs: (() => void)[] = []
  t.mock.method(Object.getPrototypeOf(file), 'datasync', function (this: FileHandle) {
    assert.equal(fstatSync(this.fd).ino, statSync(`${path}-wal`).ino)
    return new Promise<void>(resolve => syncs.push(resolve))
  })
  await file.close()
  const done: string[] = []
  const adds = ['a', 'b', 'c'].map(async key => {
    await add(key)
    done.push(key)
  })
  const rows = () => all<Pick<Row<'facts'>, 'key'>>(database, 'SELECT key FROM facts')
  await until(async () => (await rows()).length === 4, 'the commits were not made')
  assert.deepEqual(done, [], 'committed, not yet on disk')
  for (let times = 0; times < 2; times++) {
    await until(() => syncs.length > 0, 'nothing was synced')
    syncs.shift()?.()
  }
  await Promise.all(adds)
  assert.equal(syncs.length, 0, 'two syncs for three commits')
})

test('a new database, and what SQLite puts beside it, is for its owner alone', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const database = await open(t, path)
  await insertRows(database, 'facts', { key: 'a', value: 'b' })
  for (const end of ['', '-wal', '-shm'])
    assert.equal(statSync(`${path}${end}`).mode & 0o777, 0o600, end)
})

test('a failed transaction leaves nothing, and the next one works', async t => {
  const database = await open(t, join(folderOf(t), 'plimsoll.db'))
  const work = database.transaction(async tx => {
    await insertRows(tx, 'facts', { key: 'a', value: 'b' })
    throw new Error('changed my mind')
  })
  await assert.rejects(work, new Error('changed my mind'))
  assert.deepEqual(await all<Row<'facts'>>(database, 'SELECT * FROM facts'), [])
  await database.transaction(tx => insertRows(tx, 'facts', { key: 'a', value: 'b' }))
  assert.equal((await all<Row<'facts'>>(database, 'SELECT * FROM facts')).length, 1)
})

test('a full disk is told as such, not as a failed rollback', async t => {
  const database = await open(t, join(folderOf(t), 'plimsoll.db'))
  const work = database.transaction(async tx => {
    await run(tx, 'PRAGMA max_page_count = 40')
    for (let i = 0; i < 100; i++)
      await insertRows(tx, 'facts', { key: `${i}`, value: 'x'.repeat(9000) })
  })
  await assert.rejects(work, refusedWith('storage_full'))
  assert.deepEqual(await all<Pick<Row<'facts'>, 'key'>>(database, 'SELECT key FROM facts'), [])
})

test('waiting for another process stops neither this one, nor those who read in it, nor, afterwards, its commits', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const database = await open(t, path)
  const other = openSqlite(path)
  const insert = (key: string, queries: Queries) => insertRows(queries, 'facts', { key, value: '' })
  for (const write of [
    (key: string) => database.transaction(tx => insert(key, tx)),
    (key: string) => insert(key, database),
    (key: string) => run(database, `INSERT INTO facts (key, value) VALUES (?, '')`, key),
  ]) {
    other.exec('BEGIN IMMEDIATE')
    const writing = write(`${write}`)
    await all<Row<'facts'>>(database, 'SELECT * FROM facts')
    // Were the event loop to stand still, the other's turn would never end.
    assert.ok(await isWaiting(writing))
    other.exec('ROLLBACK')
    await writing
    const written = other.prepare('SELECT value FROM facts WHERE key = ?').all([`${write}`])
    assert.deepEqual(written, [{ value: '' }])
    await database.transaction(tx => insert(`after ${write}`, tx))
  }
})

test('processes that open a new database at the same time migrate it once', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const code = `const { openDatabase } = await import(${JSON.stringify(DATABASE)}); await openDatabase(${JSON.stringify(path)})`
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' }),
  )
  for (const [code] of await Promise.all(children.map(child => once(child, 'exit'))))
    assert.equal(code, 0)
  const database = await open(t, path)
  assert.deepEqual(await all<Row<'crates'>>(database, 'SELECT * FROM crates'), [])
})

test('a database of a newer version is refused in one sentence that names this one', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const database = await open(t, path)
  await run(database, `INSERT INTO kysely_migration VALUES ('999_later', '2027-01-01')`)
  const { version: running } = PLIMSOLL_SCHEMA
  const newer = issue('registry_newer', { file: path, running, steps: '999_later' })
  await assert.rejects(openDatabase(path), new Refusal([newer]))
})

test('marks come in the order of their kinds', async t => {
  const database = await open(t, join(folderOf(t), 'plimsoll.db'))
  await setMarks(database, [...marksOf('crate', [2, 1]), ...marksOf('release', [3])], 1)
  const order = async (...kinds: string[]) => {
    const marks = await dueMarks(
      database,
      kinds.map(kind => ({ kind })),
      new Date(),
      2,
    )
    return marks.map(({ subject }) => subject)
  }
  assert.deepEqual(await order('release', 'crate'), [3, 1])
  assert.deepEqual(await order('crate', 'release'), [1, 2])
})

test('a mark whose work fails is put off longer each time, and at once due when it is renewed', async t => {
  const database = await open(t, join(folderOf(t), 'plimsoll.db'))
  const mark = { kind: 'page', subject: 1, generation: 1 } as const
  await setMarks(database, [mark], 1)
  const now = new Date('2026-11-20T12:00:00Z')
  const pauses: number[] = []
  for (let attempt = 1; attempt <= 6; attempt++) {
    await postponeMark(database, mark, new Error('no such tag'), now)
    const next = await nextRetry(database)
    pauses.push(((next?.getTime() ?? 0) - now.getTime()) / 60_000)
  }
  assert.deepEqual(pauses, [1, 5, 30, 120, 360, 360])
  assert.deepEqual(await dueMarks(database, [{ kind: 'page' }], now, 2), [])
  assert.deepEqual(
    await dueMarks(database, [{ kind: 'page' }], new Date('2026-11-20T18:00:00Z'), 2),
    [mark],
  )
  assert.deepEqual(await countFailedMarks(database, ['page']), [{ kind: 'page', n: 1 }])
  await setMarks(database, [mark], 2)
  await postponeMark(database, mark, new Error('late'), now)
  assert.deepEqual(await dueMarks(database, [{ kind: 'page' }], now, 2), [
    { ...mark, generation: 2 },
  ])
  assert.deepEqual(await countFailedMarks(database, ['page']), [])
})

test('a database that is opened twice keeps its log when another process closes it', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const first = await open(t, path)
  await open(t, path)
  await insertRows(first, 'facts', { key: 'a', value: '' })
  const program = `
    import { openSqlite } from ${JSON.stringify(SQLITE_FILE)}
    const database = openSqlite(process.argv[1])
    console.log(database.prepare('SELECT key FROM facts').all().length)
    database.close()`
  const rows = execFileSync(process.execPath, ['--input-type=module', '-e', program, path])
  assert.equal(String(rows), '1\n')
  assert.ok(existsSync(`${path}-wal`), 'the log was deleted under two open connections')
})
