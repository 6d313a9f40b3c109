// Mirrors generator/database/postgres/server.ts: what every session relies on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Database } from '../../generator/database/connection.ts'
import { ServerLocks } from '../../generator/database/postgres/locks.ts'
import { openPostgres, openSnapshot } from '../../generator/database/postgres/open.ts'
import { run, value } from '../../generator/database/statement.ts'
import type { ProcessMutex } from '../../generator/places/locks/process-mutex.ts'
import { readValue, writeValue } from '../../generator/records/values.ts'
import { execute } from '../support/postgres.ts'
import { openOnServer as open, postgresSuite } from '../support/postgres-suite.ts'
import { refusedWith } from '../support/refusal.ts'

const { skip, empty } = postgresSuite()

/** Defaults that would change what a session does. */
const DEFAULTS = {
  default_transaction_isolation: 'serializable',
  statement_timeout: '1ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  transaction_timeout: '200ms',
  idle_session_timeout: '200ms',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  extra_float_digits: '-15',
  client_encoding: 'LATIN1',
  bytea_output: 'escape',
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  search_path: 'plimsoll_own, public',
  synchronous_commit: 'off',
}

/** Sets all of them that a server has, for a database and for the role in it. */
async function setDefaults(url: string, more: Partial<typeof DEFAULTS> = {}): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const known = await execute(url, 'SELECT lower(name) AS name FROM pg_settings')
  const lines = Object.entries({ ...DEFAULTS, ...more }).flatMap(([setting, text]) => {
    if (!known.some(({ name }) => name === setting.toLowerCase())) return []
    const to = `SET ${setting} = ${text.includes(',') ? text : `'${text}'`}`
    return [`ALTER DATABASE ${name} ${to}`, `ALTER ROLE plimsoll IN DATABASE ${name} ${to}`]
  })
  // In one session: the next one has them.
  await execute(url, ['CREATE SCHEMA plimsoll_own', ...lines].join(';'))
}

/** A pooler that passes on who connects to which database, and nothing else. */
async function pooler(t: TestContext, url: string): Promise<string> {
  const { pathname, port, searchParams } = new URL(url)
  const path = `${searchParams.get('host')}/.s.PGSQL.${port || 5432}`
  const proxy = createServer(client => {
    const behind = connect(path)
    client.on('error', () => behind.destroy()).on('close', () => behind.destroy())
    behind.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.once('data', first => {
      const texts = ['user', 'plimsoll', 'database', pathname.slice(1), 'client_encoding', 'UTF8']
      const body = Buffer.from(`${texts.join('\0')}\0\0`)
      const head = Buffer.from(first.subarray(0, 8))
      head.writeInt32BE(8 + body.length)
      behind.write(Buffer.concat([head, body]))
      client.pipe(behind)
      behind.pipe(client)
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close())
  return `postgres://plimsoll@127.0.0.1:${(proxy.address() as AddressInfo).port}${pathname}`
}

test('a pooler that leaves out what a session begins with changes nothing', { skip }, async t => {
  const settings = await empty({ statement_seconds: 30, sslmode: 'disable' })
  await setDefaults(settings.url, { statement_timeout: '2min' })
  const database = await open(t, { ...settings, url: await pooler(t, settings.url) })
  const shown = (name: string) => value(database, `SELECT current_setting('${name}') AS it`)
  const names = ['statement_timeout', 'lock_timeout', 'array_nulls', 'TimeZone']
  assert.deepEqual(await Promise.all(names.map(shown)), ['30s', '10s', 'on', 'UTC'])
})

test('no default of a role or database changes what a session relies on', { skip }, async t => {
  const settings = await empty({ statement_seconds: 30 })
  await setDefaults(settings.url)
  const [one, other] = [await open(t, settings), await open(t, settings)]
  const shown = (name: string) => value(one, `SELECT current_setting('${name}') AS it`)
  assert.equal(await shown('transaction_isolation'), 'read committed')
  assert.equal(await shown('TimeZone'), 'UTC')
  for (const name of ['array_nulls', 'synchronous_commit']) assert.equal(await shown(name), 'on')
  // The second of two that meet sees what the first has done.
  const add = (database: Database) =>
    database.transaction(async tx => {
      const before = Number(await readValue(tx, 'n'))
      await writeValue(tx, 'n', String(before + 1))
    })
  await Promise.all([one, other, one, other].map(add))
  assert.equal(await readValue(one, 'n'), '4')
  const text = String.raw`it's \ 'é' 日本 😀`
  await writeValue(one, 'text', text)
  assert.equal(await readValue(other, 'text'), text)
  // Longer than any of the limits above.
  const wait = 'SELECT pg_sleep(0.5)::text AS it'
  await one.transaction(async tx => {
    await value(tx, wait)
    await writeValue(tx, 'n', '5')
    await value(tx, wait)
  })
  const both = [new ServerLocks(settings), new ServerLocks(settings)]
  const [held, wanted] = both.map(locks => locks.mutex('build')) as [ProcessMutex, ProcessMutex]
  let second: Promise<void> | undefined
  await held.run(async () => {
    second = wanted.run(async () => undefined)
    await value(other, wait)
    assert.ok(await held.isHeld())
  })
  await second
  for (const each of [held, wanted, ...both]) await each.close()
  const snapshot = openSnapshot(settings)
  t.after(() => snapshot.close())
  await snapshot.during(async () => void (await value(snapshot.queries, wait)))
})

test('a lease that is asked for twice at once is taken once, and freed for others', {
  skip,
}, async t => {
  const settings = await empty()
  const both = [new ServerLocks(settings), new ServerLocks(settings)]
  const [one, other] = both.map(locks => locks.lease('git'))
  if (!one || !other) return assert.fail('no leases')
  t.after(() => Promise.all(both.map(locks => locks.close())))
  assert.deepEqual(await Promise.all([one.isMine(), one.isMine()]), [true, true])
  assert.equal(await other.isMine(), false)
  // One is asked while it is freed.
  await Promise.all([one.isMine(), one.close()])
  assert.equal(await other.isMine(), true)
})

test('a server that is set to be read only is told as that', { skip }, async t => {
  const settings = await empty()
  const database = await open(t, settings)
  await writeValue(database, 'a', '1')
  const name = new URL(settings.url).pathname.slice(1)
  await execute(settings.url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  const later = await open(t, settings)
  assert.equal(await readValue(later, 'a'), '1')
  await assert.rejects(writeValue(later, 'a', '2'), refusedWith('storage_readonly'))
  await run(database, "DELETE FROM kysely_migration WHERE name > '026_found'")
  await assert.rejects(openPostgres(settings), refusedWith('storage_readonly'))
})
