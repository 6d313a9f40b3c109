// Mirrors generator/migrate/: records on their way to a server and back.
import assert from 'node:assert/strict'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { parseVersion } from '../../core/version.ts'
import { addUser } from '../../daemon/accounts/accounts.ts'
import { endSessions, startSession } from '../../daemon/accounts/sessions.ts'
import { createToken, revokeToken } from '../../daemon/accounts/tokens.ts'
import { deleteReleases } from '../../generator/delete.ts'
import { type Destination, migrate, undoMove } from '../../generator/migrate/migrate.ts'
import { openRegistry, type Registry } from '../../generator/registry.ts'
import { setYanked } from '../../generator/store/catalog/release-changes.ts'
import { OWN_TABLES, TABLE_KEYS } from '../../generator/store/database/copy.ts'
import { openPostgres } from '../../generator/store/database/postgres/open.ts'
import { all, run } from '../../generator/store/database/statement.ts'
import type { ProcessMutex } from '../../generator/store/process-mutex.ts'
import type { Bucket } from '../../generator/store/s3/bucket.ts'
import { readBody } from '../../generator/store/s3/reading.ts'
import { openCrates } from '../../generator/store/storage.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { serverSettings } from '../support/engine.ts'
import { filesBelow } from '../support/folder.ts'
import { plimsoll } from '../support/plimsoll.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { plimsollHere } from '../support/program.ts'
import { bucketOn } from '../support/s3/bucket.ts'
import { startEngine } from '../support/s3/engine.ts'
import { environmentOf } from '../support/s3/environment.ts'
import { addAndShow, folderOf, newRegistry, OPERATOR } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

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
  const database = await openPostgres(serverSettings(await server.create('tables')))
  t.after(() => database.destroy())
  const tables = await database.introspection.getTables()
  const known = [...Object.keys(TABLE_KEYS), ...OWN_TABLES]
  assert.deepEqual(tables.map(one => one.name).sort(), known.sort())
})

test('records go to a server and back, and changes go on there', { skip }, async t => {
  const first = await filled(t)
  const before = await rowsOf(first)
  const { dir } = first
  const url = await server.create('moved')
  const moved = await plimsoll(dir, ['migrate', '--to', url, '--dir', dir])
  assert.equal(moved.code, 0, moved.stderr)
  assert.match(moved.stdout, /^moved \d+ records to postgres:.*\nthe old records refuse changes/)
  const again = await plimsoll(dir, ['migrate', '--to', url, '--dir', dir])
  assert.match(again.stdout, /^the records are in postgres:/, again.stderr)
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

test('a registry goes to a server and a bucket and back: every file is the same', {
  skip,
}, async t => {
  const { dir } = await filled(t)
  const command = async (at: string, env: Record<string, string>, ...args: string[]) =>
    expectCode(args.join(' '), await plimsollHere([...args, '--dir', at], env), 0)
  await command(dir, {}, 'yank', 'demo@1.0.0')
  await command(dir, {}, 'build', '--all')
  const [tree, crates] = [bytesBelow(join(dir, 'public')), bytesBelow(join(dir, 'crates'))]
  assert.equal([...tree.keys()].filter(path => path.endsWith('.crate')).length, 3)
  assert.ok(tree.size > 20)
  const s3 = await startEngine(new Cleanup(t))
  const url = await server.create('there')
  const places = { crates: 's3://test/crates', public: 's3://test/www' }
  const to = ['--to', url, '--crates', places.crates, '--public', places.public]
  await command(dir, environmentOf(s3, {}), 'migrate', ...to)
  assert.deepEqual(await objectsOf(bucketOn(s3, 'www')), tree)
  // As on another machine: nothing is there but the settings.
  const there = folderOf(t)
  copyFileSync(join(dir, 'plimsoll.toml'), join(there, 'plimsoll.toml'))
  const env = { ...environmentOf(s3, places), PLIMSOLL_DATABASE_URL: url }
  const built = await command(there, env, 'build', '--json')
  assert.equal(JSON.parse(built.stdout).crates, 0, 'nothing is rendered again')
  await command(there, env, 'verify')
  assert.deepEqual(await objectsOf(bucketOn(s3, 'www')), tree)
  assert.deepEqual(await objectsOf(bucketOn(s3, 'crates')), crates)
  await command(there, env, 'migrate', '--to', 'file', '--crates', 'crates')
  rmSync(join(there, 'public'), { recursive: true, force: true })
  await command(there, {}, 'build', '--all')
  await command(there, {}, 'verify')
  assert.deepEqual(bytesBelow(join(there, 'public')), tree)
  assert.deepEqual(bytesBelow(join(there, 'crates')), crates)
})

/** The files of a folder without the git index, which has a history. */
function bytesBelow(folder: string): Map<string, string> {
  const paths = filesBelow(folder).filter(path => !path.startsWith('index.git/'))
  return new Map(paths.map(path => [path, readFileSync(join(folder, path), 'base64')]))
}

async function objectsOf(bucket: Bucket): Promise<Map<string, string>> {
  const objects = new Map<string, string>()
  for await (const { key, size } of bucket.list()) {
    const object = await bucket.get(key)
    assert.ok(object)
    objects.set(key, (await readBody(object.bytes, size)).toString('base64'))
  }
  return objects
}

/** Changes records of most tables: adds, changes and deletes. */
async function changeMuch(registry: Registry, round: number): Promise<void> {
  const { database } = registry
  const at = '2026-11-21T12:00:00Z'
  const user = await addUser(database, { login: `user${round}`, admin: false, at })
  const order = { userId: user.id, name: 'one', scopes: null, crates: null, at, expires: null }
  const { id } = await createToken(database, order)
  await createToken(database, { ...order, name: 'two' })
  await revokeToken(database, id, at)
  const time = { agent: 'a browser', now: new Date(at), seconds: 60 }
  await startSession(database, user.id, time, OPERATOR)
  await endSessions(database, user, OPERATOR)
  const manifest = '[dependencies]\nserde = "1"'
  for (const version of ['1.0.0', '2.0.0'])
    await addAndShow(registry, { name: `new${round}`, version, manifest })
  const old = round === 1 ? '1.0.0' : '1.1.0'
  const deletion = { name: parseName('demo'), version: parseVersion(old), force: true }
  await deleteReleases(registry, deletion, OPERATOR)
  await setYanked(database, parseName('other'), parseVersion('0.1.0'), round === 1, OPERATOR)
}

for (const [from, way] of [
  ['file', 'there'],
  ['server', 'back'],
] as const)
  test(`what changes while a registry is copied ${way} arrives, and what is deleted goes`, {
    skip,
  }, async t => {
    const first = await filled(t)
    const { dir } = first
    const url = await server.create(`changes_${from}`)
    let registry = first
    let to = serverSettings(url) as Settings['database']
    if (from === 'server') {
      await migrate(first, { database: to, crates: null, tree: null })
      for (const name of readdirSync(dir).filter(one => one.startsWith('plimsoll.db')))
        rmSync(join(dir, name))
      registry = await openRegistry(dir, { env: { PLIMSOLL_DATABASE_URL: url } })
      t.after(() => registry.close())
      to = { ...to, url: null }
    }
    const crates = await openCrates(dir, { ...registry.settings.storage, crates: folderOf(t) }, {})
    let changed: Promise<void> | null = null
    const { mutex } = registry
    const order: Destination = {
      database: to,
      crates,
      // Before the first copy of the records, after that of the crates.
      tree: { upload: () => changeMuch(registry, 1), note: async () => {} },
      progress: step => {
        if (step.startsWith('comparing')) changed ??= changeMuch(registry, 2)
      },
    }
    const waiting: ProcessMutex = {
      run: async work => {
        await changed
        return mutex.run(work)
      },
      rendering: subjects => mutex.rendering(subjects),
      isHeld: () => mutex.isHeld(),
      close: () => mutex.close(),
    }
    await migrate({ ...registry, mutex: waiting }, order)
    assert.ok(changed, 'changes were made after the first copy')
    const env = { PLIMSOLL_DATABASE_URL: to.url ?? '', PLIMSOLL_STORAGE_CRATES: crates.place }
    const moved = await openRegistry(dir, { env })
    const { marks, ...rows } = await rowsOf(moved)
    const { marks: old, ...expected } = await rowsOf(registry)
    assert.deepEqual(rows, expected)
    assert.ok((marks?.length ?? 0) >= (old?.length ?? 0))
    const keys: string[] = []
    for await (const key of crates.list()) keys.push(key)
    const left = await all<{ cksum: string }>(moved.database, 'SELECT cksum FROM releases')
    assert.deepEqual(keys.map(key => key.slice(-70, -6)).sort(), left.map(one => one.cksum).sort())
    // New ids follow those that were copied.
    await changeMuch(moved, 3).catch(error => {
      assert.ok(error instanceof Refusal && error.has('release_unknown'), String(error))
    })
    assert.equal((await all(moved.database, "SELECT 1 FROM crates WHERE name = 'new3'")).length, 1)
    await moved.close()
  })

test('it is refused with records in the database, and with an empty database beside crates', {
  skip,
}, async t => {
  const [registry, other] = [await filled(t), await filled(t)]
  const database = serverSettings(await server.create('refused'))
  const has = (code: Parameters<Refusal['has']>[0]) => (error: unknown) =>
    error instanceof Refusal && error.has(code)
  const env = { PLIMSOLL_DATABASE_URL: database.url }
  await assert.rejects(openRegistry(registry.dir, { env }), has('records_missing'))
  await migrate(other, { database, crates: null, tree: null })
  await assert.rejects(
    migrate(registry, { database, crates: null, tree: null }),
    has('migrate_not_empty'),
  )
  await assert.rejects(undoMove(registry), has('migrate_not_begun'))
  await assert.rejects(addAndShow(other, { name: 'more', version: '1.0.0' }), has('registry_moved'))
  const elsewhere = serverSettings(await server.create('elsewhere'))
  const again = migrate(other, { database: elsewhere, crates: null, tree: null })
  await assert.rejects(again, has('records_moved'))
  await undoMove(other)
  await addAndShow(other, { name: 'more', version: '1.0.0' })
})
