import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../../generator/database/database.ts'
import { insertRows } from '../../support/rows.ts'
import { folderOf } from '../../support/workplace.ts'

test('a database that is opened twice keeps its log when another process closes it', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const first = await openDatabase(path)
  t.after(() => first.close())
  const second = await openDatabase(path)
  t.after(() => second.close())
  await insertRows(first, 'facts', { key: 'a', value: '' })
  const program = `
    import Libsql from 'libsql'
    const database = new Libsql(process.argv[1])
    console.log(database.prepare('SELECT key FROM facts').all().length)
    database.close()`
  const rows = execFileSync(process.execPath, ['--input-type=module', '-e', program, path])
  assert.equal(String(rows), '1\n')
  assert.ok(existsSync(`${path}-wal`), 'the log was deleted under two open connections')
})
