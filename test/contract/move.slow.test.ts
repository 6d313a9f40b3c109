// Mirrors generator/migrate/: registries on their way to a server and buckets, and back.
import assert from 'node:assert/strict'
import { appendFileSync, copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sha256 } from '../../core/sha256.ts'
import { addUser } from '../../generator/accounts/accounts.ts'
import { TABLE_KEYS } from '../../generator/database/copy.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import { column, run } from '../../generator/database/statement.ts'
import { migrate } from '../../generator/migrate/migrate.ts'
import type { TreeCopy } from '../../generator/migrate/tree.ts'
import { openRegistry } from '../../generator/open.ts'
import type { BucketPlace } from '../../generator/places/bucket-place.ts'
import { endPause } from '../../generator/records/pause.ts'
import { LAST_BACKUP, readValue } from '../../generator/records/values.ts'
import { readSettings } from '../../generator/registry/folder.ts'
import { type Registry, serveLock } from '../../generator/registry/registry.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { serverSettings } from '../support/engine.ts'
import { sumsBelow } from '../support/folder.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { plimsollHere } from '../support/program.ts'
import { refusedWith } from '../support/refusal.ts'
import { allRecords } from '../support/rows.ts'
import { bucketOn } from '../support/s3/bucket.ts'
import { startEngine } from '../support/s3/engine.ts'
import { environmentOf } from '../support/s3/environment.ts'
import { addAndShow, folderOf, newRegistry, OPERATOR } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

/** Leaves out what is about the database itself, and about the git index of a place. */
const ours = (table: string) =>
  table === 'facts' ? "key NOT IN ('copy', 'moved', 'pause', 'tree_format')" : 'true'

const rowsOf = ({ database }: Registry) => allRecords(database, ours)

async function filled(t: TestContext): Promise<Registry> {
  const registry = await newRegistry(t)
  await addUser(registry.database, { login: 'ann', admin: true }, OPERATOR)
  const files = { 'README.md': '# ä', 'src/lib.rs': '' }
  for (const version of ['1.0.0', '1.1.0'])
    await addAndShow(registry, { name: 'demo', version, files })
  await addAndShow(registry, { name: 'other', version: '0.1.0', files })
  return registry
}

test('the list of tables has every table', { skip }, async t => {
  const database = await openPostgres(serverSettings(await server.create('tables')))
  t.after(() => database.close())
  const tables = await column<string>(database, 'SELECT name FROM sqlite_master ORDER BY name')
  const covered = [...Object.keys(TABLE_KEYS), 'rate_limits', 'schema_record']
  assert.deepEqual(
    tables.filter(name => !name.startsWith('kysely_')),
    covered.sort(),
  )
})

test('records alone go to a server; the old ones take no changes, and go back and there again', {
  skip,
}, async t => {
  const first = await filled(t)
  const { dir } = first
  const url = await server.create('moved')
  const [file, away] = [{ PLIMSOLL_DATABASE_URL: '' }, { PLIMSOLL_DATABASE_URL: url }]
  const migrate = async (to: string, env: NodeJS.ProcessEnv = {}, ...more: string[]) => {
    const ended = await plimsollHere(['migrate', '--to', to, ...more, '--dir', dir], env)
    // What the command has written is where the next one finds the records.
    const { settings } = readSettings(dir, { env: {} })
    if (more.length > 0) assert.equal(settings.database.url, to === 'file' ? null : to)
    return expectCode(`migrate --to ${to}`, ended, 0).stdout
  }
  assert.match(
    await migrate(url),
    /^moved \d+ records to postgres:.*\nthe old records take no changes/,
  )
  const again =
    /^the records are in postgres:\S+ since an earlier command; this one copied nothing\n/
  assert.match(await migrate(url), again)
  const late = addAndShow(first, { name: 'late', version: '1.0.0' })
  await assert.rejects(late, refusedWith('registry_moved'))
  /** Whether all records of before are there; what they are when a crate was added. */
  const goOn = async (env: NodeJS.ProcessEnv, before: unknown, name: string) => {
    const registry = await openRegistry(dir, { env })
    assert.deepEqual(await rowsOf(registry), before)
    // New ids follow those that were copied.
    await addAndShow(registry, { name, version: '1.0.0' })
    const rows = await rowsOf(registry)
    await registry.close()
    return rows
  }
  const second = await goOn(away, await rowsOf(first), 'second')
  await migrate('file', away, '--write')
  assert.ok(!existsSync(join(dir, 'plimsoll.db.copy')))
  const third = await goOn(file, second, 'third')
  await migrate(url, file, '--write')
  await goOn(away, third, 'fourth')
})

test('a backup of records on a server restores to a registry in a folder, with all of them', {
  skip,
}, async t => {
  const first = await filled(t)
  const { dir } = first
  const url = await server.create('backed_up')
  const command = async (at: string, ...args: string[]) =>
    expectCode(args.join(' '), await plimsollHere([...args, '--dir', at]), 0)
  await command(dir, 'migrate', '--to', url)
  appendFileSync(join(dir, 'plimsoll.toml'), `\n[database]\nurl = "${url}"\n`)
  const onServer = await openRegistry(dir, { env: {} })
  t.after(() => onServer.close())
  const before = await rowsOf(onServer)
  const file = join(folderOf(t), 'backup.tar')
  const { stdout } = await command(dir, 'backup', file)
  assert.match(stdout, / with its 3 \.crate files/)
  assert.match(String(await readValue(onServer.database, LAST_BACKUP)), /^20.*Z$/)
  const restored = join(folderOf(t), 'restored')
  await command(restored, 'restore', file)
  await command(restored, 'verify')
  const again = await openRegistry(restored, { env: {} })
  t.after(() => again.close())
  const rows = await rowsOf(again)
  // The rest is derived: the restore renders what was not rendered yet.
  for (const table of ['crates', 'users', 'releases', 'owners', 'audit', 'listings', 'weeks'])
    assert.deepEqual(rows[table], before[table], table)
})

test('a registry goes to a server and a bucket and back: every file is the same', {
  skip,
}, async t => {
  const { dir } = await filled(t)
  const command = async (at: string, env: Record<string, string>, ...args: string[]) =>
    expectCode(args.join(' '), await plimsollHere([...args, '--dir', at], env), 0)
  await command(dir, {}, 'yank', 'demo@1.0.0')
  await command(dir, {}, 'build', '--all')
  const [tree, crates] = [sumsBelow(join(dir, 'public')), sumsBelow(join(dir, 'crates'))]
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
  const refused = async (place: string, said: RegExp) => {
    const to = ['--to', 'file', '--crates', 'crates', '--public', place]
    assert.match((await plimsollHere(['migrate', ...to, '--dir', there], env)).stderr, said)
  }
  await refused(places.public, /the public tree is in s3:\/\/test\/www already/)
  const lock = serveLock(there)
  assert.ok(lock.tryAcquire('a daemon'))
  await refused('public', /the daemon of this folder works in .*public while it serves/)
  lock.release()
  const back = ['--to', 'file', '--crates', 'crates', '--public', 'www']
  await command(there, env, 'migrate', ...back)
  assert.deepEqual(sumsBelow(join(there, 'www')), tree)
  const home = { PLIMSOLL_STORAGE_PUBLIC: 'www' }
  const again = await command(there, home, 'build', '--json')
  assert.equal(JSON.parse(again.stdout).crates, 0, 'nothing is rendered again')
  await command(there, home, 'verify')
  assert.deepEqual(sumsBelow(join(there, 'www')), tree)
  assert.deepEqual(sumsBelow(join(there, 'crates')), crates)
})

async function objectsOf(bucket: BucketPlace): Promise<Map<string, string>> {
  const objects = new Map<string, string>()
  for await (const { path: key } of bucket.list()) {
    const object = await bucket.read(key)
    assert.ok(object)
    objects.set(key, sha256(object.bytes))
  }
  return objects
}

/** A registry as `migrate` opens it. */
async function moving(t: TestContext, dir: string): Promise<Registry> {
  const registry = await openRegistry(dir, { env: {}, forMove: true })
  new Cleanup(t).add(() => registry.close())
  return registry
}

test('it is refused with records in the database, and with an empty database beside crates', {
  skip,
}, async t => {
  const [registry, other] = [await filled(t), await filled(t)]
  const database = serverSettings(await server.create('refused'))
  const env = { PLIMSOLL_DATABASE_URL: database.url }
  await assert.rejects(openRegistry(registry.dir, { env }), refusedWith('records_missing'))
  const places = { crates: null, tree: null }
  const [first, second] = [await moving(t, registry.dir), await moving(t, other.dir)]
  await migrate(second, { database, ...places })
  await assert.rejects(migrate(first, { database, ...places }), refusedWith('migrate_not_empty'))
  await addAndShow(registry, { name: 'more', version: '1.0.0' })
  const late = addAndShow(other, { name: 'more', version: '1.0.0' })
  await assert.rejects(late, refusedWith('registry_moved'))
  const elsewhere = serverSettings(await server.create('elsewhere'))
  const again = migrate(second, { database: elsewhere, ...places })
  const before = `the records in ${join(other.dir, 'plimsoll.db')} were moved to postgres:`
  await assert.rejects(again, ({ message }) => message.startsWith(before))
  await assert.rejects(openRegistry(other.dir, { env: {} }), refusedWith('records_moved'))
  const file = { database: { ...database, url: null }, ...places }
  await assert.rejects(migrate(first, file), refusedWith('migrate_file_exists'))
})

test('a pause that ends too early gives the move up; the next one succeeds', { skip }, async t => {
  const registry = await filled(t)
  const mover = await moving(t, registry.dir)
  const url = await server.create('lost')
  const order = { database: serverSettings(url), crates: null, tree: null }
  let changing: Promise<unknown> | null = null
  const progress = (step: string) => {
    if (step !== 'comparing crates') return
    changing ??= endPause(registry.database).then(() =>
      addAndShow(registry, { name: 'new', version: '1.0.0' }),
    )
  }
  await assert.rejects(migrate(mover, { ...order, progress }), refusedWith('pause_lost'))
  await changing
  assert.ok(changing, 'the pause was ended')
  await addAndShow(registry, { name: 'new', version: '1.1.0' })
  const env = { PLIMSOLL_DATABASE_URL: url }
  await assert.rejects(openRegistry(registry.dir, { env }), refusedWith('move_unfinished'))
  await migrate(mover, order)
  const moved = await openRegistry(registry.dir, { env })
  assert.deepEqual(await rowsOf(moved), await rowsOf(registry))
  await moved.close()
})

test('what changes while the records are copied is in the copy, there and back', {
  skip,
}, async t => {
  const { dir } = await filled(t)
  const url = await server.create('changing')
  const go = async (from: string, to: string | null, name: string) => {
    const env = { PLIMSOLL_DATABASE_URL: from }
    const served = await openRegistry(dir, { env })
    const mover = await openRegistry(dir, { env, forMove: true })
    const change = async () => {
      await addUser(served.database, { login: name, admin: false }, OPERATOR)
      await addAndShow(served, { name, version: '1.0.0' })
      await addAndShow(served, { name: 'demo', version: to === null ? '3.0.0' : '2.0.0' })
      for (const sql of [
        "UPDATE releases SET yanked = 1 - yanked, readme = NULL WHERE version = '1.0.0'",
        'DELETE FROM crate_labels WHERE label_id = 7',
        "DELETE FROM marks WHERE kind = 'search'",
        `INSERT INTO crate_labels VALUES (${name.length}, 1, 1), (7, ${name.length}, 1)`,
      ])
        await run(served.database, sql)
    }
    let changing: Promise<void> | null = null
    const progress = (step: string) => {
      if (step.startsWith('copying')) changing ??= change()
    }
    // The files are copied again between the records and the pause.
    const tree: TreeCopy = {
      update: async () => {
        await changing
        return 0
      },
      show: async () => {},
      recordShown: async () => {},
    }
    const database = { ...serverSettings(url), url: to }
    await migrate(mover, { database, crates: null, tree, progress })
    assert.ok(changing, 'something has changed')
    const moved = await openRegistry(dir, { env: { PLIMSOLL_DATABASE_URL: to ?? '' } })
    assert.deepEqual(await rowsOf(moved), await rowsOf(mover))
    for (const registry of [served, mover, moved]) await registry.close()
  }
  await go('', url, 'there')
  await go(url, null, 'and-back')
})
