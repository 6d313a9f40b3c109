import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  all,
  first,
  insert,
  one,
  type Row,
  run,
  upsert,
} from '../../../generator/database/statement.ts'
import { isOnPostgres, openCatalog } from '../../support/engine.ts'
import { withQueryHook } from '../../support/query-hook.ts'
import { folderOf } from '../../support/workplace.ts'

test('statements give rows, the first row, and how many rows they changed', async t => {
  const database = await openCatalog(t, join(folderOf(t), 'plimsoll.db'))
  const seen: string[] = []
  const hooked = withQueryHook(database, sql => void seen.push(sql))
  type Fact = Row<'facts'>
  const byKey = `SELECT key, value FROM facts
    WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key`
  const changed = await hooked.transaction(tx =>
    run(
      tx,
      `INSERT INTO facts (key, value)
        SELECT value ->> 0, value ->> 1 FROM json_each(?)`,
      ['a', 'b', 'c'].map(key => [key, `${key}${key}`]),
    ),
  )
  assert.equal(changed, 3)
  assert.deepEqual(await all<Fact>(hooked, byKey, ['c', 'a', 'x']), [
    { key: 'a', value: 'aa' },
    { key: 'c', value: 'cc' },
  ])
  assert.deepEqual(await first<Fact>(hooked, byKey, ['b']), { key: 'b', value: 'bb' })
  assert.equal(await first<Fact>(hooked, byKey, []), null)
  assert.equal(await run(hooked, 'DELETE FROM facts WHERE key > ?', 'a'), 2)
  assert.deepEqual(
    seen.map(text => text.slice(0, 6)),
    ['INSERT', 'SELECT', 'SELECT', 'SELECT', 'DELETE'],
  )
})

test('a row is inserted with a new id, or takes the place of one with its keys', async t => {
  const database = await openCatalog(t, join(folderOf(t), 'plimsoll.db'))
  const user = { login: 'Ann', canonical: 'ann', admin: 1, created_at: '2026-11-20T12:00:00Z' }
  assert.equal(await insert(database, 'users', user), 1)
  assert.equal(await insert(database, 'users', { ...user, canonical: 'bob' }), 2)
  await assert.rejects(insert(database, 'users', user), {
    code: isOnPostgres ? '23505' : 'SQLITE_CONSTRAINT_UNIQUE',
  })
  for (const value of ['old', 'new']) await upsert(database, 'facts', ['key'], { key: 'a', value })
  const text = 'SELECT value FROM facts WHERE key = ?'
  assert.deepEqual(await one<Pick<Row<'facts'>, 'value'>>(database, text, 'a'), { value: 'new' })
  await assert.rejects(one(database, text, 'b'), /no row/)
})
