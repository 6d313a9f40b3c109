// Mirrors generator/migrate/: records on their way to a server and back.
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { addUser } from '../../daemon/accounts/accounts.ts'
import { migrate } from '../../generator/migrate/migrate.ts'
import { openRegistry, type Registry, serveLock } from '../../generator/registry.ts'
import { TABLE_KEYS } from '../../generator/store/database/copy.ts'
import { openPostgres } from '../../generator/store/database/postgres/open.ts'
import { all, run } from '../../generator/store/database/statement.ts'
import { serverSettings } from '../support/engine.ts'
import { plimsoll } from '../support/plimsoll.ts'
import { execute, postgresMissing, startPostgres, type TestServer } from '../support/postgres.ts'
import { addAndShow, folderOf, newRegistry } from '../support/workplace.ts'

const skip = postgresMissing() ?? false
let server: TestServer

before(async () => {
  if (skip === false) server = await startPostgres()
})
after(async () => {
  if (skip === false) await server.close()
})

async function emptyDatabase(name: string): Promise<string> {
  await execute(server.url('postgres'), `CREATE DATABASE ${name}`)
  return server.url(name)
}

/** All rows of a registry. */
async function rowsOf({ database }: Registry): Promise<Record<string, unknown[]>> {
  const tables = Object.entries(TABLE_KEYS).map(async ([table, keys]) => {
    const rows = await all<object>(database, `SELECT * FROM ${table} ORDER BY ${keys}`)
    const sorted = rows.map(row => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))
    return [table, sorted] as const
  })
  return Object.fromEntries(await Promise.all(tables))
}

async function filled(...[t]: Parameters<typeof newRegistry>): Promise<Registry> {
  const registry = await newRegistry(t)
  await addUser(registry.database, { login: 'ann', admin: true, at: '2026-11-20T12:00:00Z' })
  for (const [name, version] of [
    ['demo', '1.0.0'],
    ['demo', '1.1.0'],
    ['other', '0.1.0'],
  ] as const)
    await addAndShow(registry, { name, version, files: { 'README.md': '# ä', 'src/lib.rs': '' } })
  return registry
}

test('the list of tables has every table', { skip }, async t => {
  const database = await openPostgres(serverSettings(await emptyDatabase('tables')))
  t.after(() => database.destroy())
  const tables = await database.introspection.getTables()
  assert.deepEqual(tables.map(one => one.name).sort(), Object.keys(TABLE_KEYS).sort())
})

test('records go to a server and back, and changes go on there', { skip }, async t => {
  const first = await filled(t)
  const before = await rowsOf(first)
  const { dir } = first
  const url = await emptyDatabase('moved')
  const moved = await plimsoll(dir, ['migrate', '--to', url, '--dir', dir])
  assert.equal(moved.code, 0, moved.stderr)
  assert.match(moved.stdout, /^copied and compared \d+ records; now set `database\.url` in/)
  const again = await plimsoll(dir, ['migrate', '--to', url, '--dir', dir])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /has records already/)
  appendFileSync(join(dir, 'plimsoll.toml'), `\n[database]\nurl = "${url}"\n`)
  const second = await openRegistry(dir, { env: {} })
  assert.deepEqual(await rowsOf(second), before)
  await addAndShow(second, { name: 'third', version: '1.0.0' })
  const then = await rowsOf(second)
  const setReadme = (text: string) =>
    run(second.database, 'UPDATE releases SET readme = ? WHERE id = 2', text)
  await setReadme('# ä\0and more')
  const kept = await plimsoll(dir, ['migrate', '--to', 'file', '--dir', dir])
  assert.match(kept.stderr, /move it away/)
  const away = folderOf(t)
  for (const name of readdirSync(dir).filter(one => one.startsWith('plimsoll.db')))
    renameSync(join(dir, name), join(away, name))
  // SQLite would read less of it.
  const cut = await plimsoll(dir, ['migrate', '--to', 'file', '--dir', dir])
  assert.match(cut.stderr, /the column readme of the table releases .* \(in the row 2\)/)
  assert.ok(!existsSync(join(dir, 'plimsoll.db')))
  await setReadme('# ä')
  await second.close()
  const back = await plimsoll(dir, ['migrate', '--to', 'file', '--dir', dir, '--json'])
  assert.ok(JSON.parse(back.stdout).records > 20, back.stderr)
  const third = await openRegistry(dir, { env: { PLIMSOLL_DATABASE_URL: '' } })
  assert.deepEqual(await rowsOf(third), then)
  await third.close()
})

test('it is refused while a daemon serves, and with an empty database beside crates', {
  skip,
}, async t => {
  const registry = await filled(t)
  const database = serverSettings(await emptyDatabase('refused'))
  const lock = serveLock(registry.dir)
  assert.ok(lock.tryAcquire('process 1'))
  const has = (code: Parameters<Refusal['has']>[0]) => (error: unknown) =>
    error instanceof Refusal && error.has(code)
  await assert.rejects(migrate(registry, database), has('serve_locked'))
  lock.release()
  const env = { PLIMSOLL_DATABASE_URL: database.url }
  await assert.rejects(openRegistry(registry.dir, { env }), has('records_missing'))
  assert.ok(existsSync(join(registry.dir, 'plimsoll.db')))
})
