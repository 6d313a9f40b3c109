import assert from 'node:assert/strict'
import { copyFileSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../../generator/database/database.ts'
import { WalSync } from '../../../generator/database/sqlite.ts'
import { openSqlite } from '../../../generator/places/disk/sqlite-file.ts'
import { refusedWith } from '../../support/refusal.ts'
import { insertRows } from '../../support/rows.ts'
import { folderOf } from '../../support/workplace.ts'

/** The keys that the database has without its log, of which the system may have dropped a part. */
function keysWithoutLog(path: string): string[] {
  copyFileSync(path, `${path}.copy`)
  const copy = openSqlite(`${path}.copy`)
  const rows = copy.prepare('SELECT key FROM facts').all() as { key: string }[]
  copy.close()
  return rows.map(fact => fact.key).sort()
}

test('a log that could not be opened once, say for want of descriptors, is opened at the next commit', async t => {
  const database = join(folderOf(t), 'plimsoll.db')
  const wal = new WalSync(database)
  await assert.rejects(wal.sync(), { code: 'ENOENT' })
  writeFileSync(`${database}-wal`, '')
  await wal.sync()
  await wal.close()
})

test('after a failed sync the log is emptied into the database before a commit counts as durable', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const database = await openDatabase(path)
  t.after(() => database.close())
  const add = (key: string) => insertRows(database, 'facts', { key, value: '' })
  await add('before')
  const file = await open(path)
  const prototype = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const failing = t.mock.method(prototype, 'datasync', () =>
    Promise.reject(Object.assign(new Error('a bad block'), { code: 'EIO' })),
  )
  await assert.rejects(add('unsure'), refusedWith('commit_unknown'))
  failing.mock.restore()
  await add('after')
  assert.deepEqual(keysWithoutLog(path), ['after', 'before', 'unsure'])
})

test('a log that a killed process has left is emptied into the database when that is opened', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const killed = await openDatabase(path)
  t.after(() => killed.close())
  await insertRows(killed, 'facts', { key: 'unsure', value: '' })
  const database = await openDatabase(path)
  t.after(() => database.close())
  assert.deepEqual(keysWithoutLog(path), ['unsure'])
})
