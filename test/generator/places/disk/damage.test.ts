import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../../../generator/database/database.ts'
import { all } from '../../../../generator/database/statement.ts'
import { damage } from '../../../../generator/places/disk/damage.ts'
import { openSqlite } from '../../../../generator/places/disk/sqlite-file.ts'
import { damageTable } from '../../../support/damage-file.ts'
import { refusedWith } from '../../../support/refusal.ts'
import { folderOf } from '../../../support/workplace.ts'

test('damage is believed when SQLite finds it in the whole file; then it is remembered', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const database = await openDatabase(path)
  t.after(() => database.close())
  const read = () => all(database, 'SELECT * FROM imported_logs')
  const prototype = Object.getPrototypeOf(openSqlite(path).prepare('SELECT 1')) as { all: unknown }
  const failure = Object.assign(new Error('disk image is malformed'), { code: 'SQLITE_CORRUPT' })
  const failing = t.mock.method(prototype as { all: () => unknown[] }, 'all', () => {
    failing.mock.restore()
    throw failure
  })
  await assert.rejects(read(), refusedWith('storage_failing'))
  assert.equal(damage.of(path), null, 'one failed read')
  assert.deepEqual(await read(), [])

  const other = join(folderOf(t), 'plimsoll.db')
  await (await openDatabase(other)).close()
  const reasons: string[] = []
  t.mock.method(damage, 'onFound', (reason: string) => reasons.push(reason))
  assert.equal(await damage.look(other), null, 'as at a start, shortly before')
  damageTable(other, 'imported_logs')
  const damaged = await openDatabase(other)
  t.after(() => damaged.close())
  const work = [
    () => all(damaged, 'SELECT * FROM imported_logs'),
    () => damaged.transaction(tx => all(tx, 'SELECT * FROM imported_logs')),
  ]
  for (const read of work) await assert.rejects(read(), refusedWith('database_damaged'))
  assert.deepEqual([damage.of(other)], reasons, 'told once')
})
