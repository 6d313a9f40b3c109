// Mirrors generator/database/postgres/: what the records promise on a real server.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { issue } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import type { Database } from '../../generator/database/connection.ts'
import { failure } from '../../generator/database/postgres/failure.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import {
  all,
  attempt,
  column,
  type Queries,
  run,
  value,
} from '../../generator/database/statement.ts'
import { openRegistry } from '../../generator/open.ts'
import { insertCrate } from '../../generator/records/crates.ts'
import { setMarks } from '../../generator/records/marks.ts'
import { readValue, writeValue } from '../../generator/records/values.ts'
import { initRegistry } from '../../generator/registry/registry.ts'
import { run as command } from '../support/command.ts'
import { serverSettings } from '../support/engine.ts'
import { root } from '../support/plimsoll.ts'
import { execute } from '../support/postgres.ts'
import { openOnServer as open, postgresSuite } from '../support/postgres-suite.ts'
import { refusedWith } from '../support/refusal.ts'
import { until } from '../support/until.ts'
import { folderOf, OPERATOR } from '../support/workplace.ts'

const { server, skip, empty } = postgresSuite()

test('a commit that waits for a standby is told as that', { skip }, async t => {
  const settings = await empty({ statement_seconds: 1 })
  const database = await open(t, settings)
  const standby = (names: string) =>
    execute(settings.url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  const reload = () => execute(settings.url, 'SELECT pg_reload_conf()')
  t.after(async () => {
    await standby('')
    await reload()
  })
  await standby('nobody')
  await reload()
  // The server's processes hear of the change one after the other.
  let told = ''
  const isRefused = async () => {
    await writeValue(database, 'a', '1').catch(error => {
      told = String(error)
    })
    return told !== ''
  }
  await until(isRefused, 'no commit waits')
  assert.match(told, /it waits for a standby of the database server/)
})

test('what a server calls another change in between is tried again by hand', () => {
  const kinds = { '40001': 'database_conflict', '53100': 'storage_server_full' } as const
  for (const [code, kind] of Object.entries(kinds))
    assert.ok(refusedWith(kind)(failure(Object.assign(new Error('no'), { code }))))
})

test('a database of a newer version is refused; the message has no password', { skip }, async t => {
  const settings = await empty()
  const database = await open(t, settings)
  await run(database, "INSERT INTO kysely_migration VALUES ('999_later', '2027-01-01')")
  const url = settings.url.replace('plimsoll@', 'plimsoll:secret@')
  await assert.rejects(openPostgres({ ...settings, url }), (error: Error) => {
    assert.doesNotMatch(error.message, /secret/)
    return refusedWith('registry_newer')(error)
  })
})

test('texts and numbers come back as they were stored, in the order of bytes', {
  skip,
}, async t => {
  const database = await open(t, await empty())
  const texts = ['a', 'B', 'a_b', 'a-b', 'ä', '\u{10ffff}0', 'Z', '', '😀']
  for (const [at, text] of texts.entries()) await writeValue(database, `key ${at}`, text)
  for (const [at, text] of texts.entries())
    assert.equal(await readValue(database, `key ${at}`), text)
  const inOrder = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const stored = await column<string>(database, 'SELECT value FROM facts ORDER BY value')
  assert.deepEqual(
    stored.filter(text => texts.includes(text)),
    inOrder,
  )
  const most = Number.MAX_SAFE_INTEGER
  await setMarks(database, [{ kind: 'index', subject: 2 ** 40 + 1 }], most)
  assert.deepEqual(await all(database, 'SELECT subject, generation FROM marks'), [
    { subject: 2 ** 40 + 1, generation: most },
  ])
})

test('a failed part of a transaction undoes only itself; a failed one leaves nothing', {
  skip,
}, async t => {
  const database = await open(t, await empty())
  await database.transaction(async tx => {
    await writeValue(tx, 'a', '1')
    const failed = await attempt(tx, async () => {
      await writeValue(tx, 'a', '2')
      await run(tx, "INSERT INTO owners (crate_id, user_id, added_at) VALUES (7, 7, '')")
    })
    assert.ok('error' in failed)
    assert.equal(await readValue(tx, 'a'), '1')
  })
  const work = database.transaction(async tx => {
    await writeValue(tx, 'a', '3')
    throw new Error('changed my mind')
  })
  await assert.rejects(work, /changed my mind/)
  assert.equal(await readValue(database, 'a'), '1')
})

test('a transaction is not taken for committed because another one got its number after a crash', {
  skip,
}, async t => {
  const settings = await empty()
  const [database, other] = [await open(t, settings), await open(t, settings)]
  const idOf = async (tx: Queries) =>
    BigInt(String(await value(tx, 'SELECT pg_current_xact_id()::text AS id')))
  const lost = database.transaction(async tx => {
    const id = await idOf(tx)
    await server.kill()
    await server.start()
    let last = 0n
    while (last < id)
      last = await other.transaction(async later => {
        await writeValue(later, 'later', String(last))
        return idOf(later)
      })
    assert.equal(last, id, 'the number is given again')
  })
  await assert.rejects(lost, refusedWith('commit_unknown'))
})

test('of two processes that make one crate one wins; ids follow the order of commits', {
  skip,
}, async t => {
  const settings = await empty()
  const processes = [await open(t, settings), await open(t, settings)]
  const make = (at: number, name: string) =>
    (processes[at % 2] as Database).transaction(tx =>
      insertCrate(tx, name as Name, OPERATOR.at, at),
    )
  const twice = await Promise.allSettled([make(0, 'same'), make(1, 'same')])
  assert.deepEqual(twice.map(result => result.status).sort(), ['fulfilled', 'rejected'])
  const seen: number[] = []
  const names = Array.from({ length: 40 }, (_, at) => `crate${at}`)
  await Promise.all(names.map(async (name, at) => seen.push((await make(at, name)).id)))
  assert.equal(new Set(seen).size, 40)
  assert.equal(await value(processes[0] as Database, 'SELECT count(*) FROM crates'), 41)
})

test('a change waits for another process no longer than it may', { skip }, async t => {
  const settings = await empty({ lock_seconds: 1 })
  const [holder, waiter] = [await open(t, settings), await open(t, settings)]
  await holder.transaction(async tx => {
    await writeValue(tx, 'a', 'held')
    await assert.rejects(writeValue(waiter, 'a', 'waited'), refusedWith('database_locked'))
    assert.equal(await readValue(waiter, 'a'), null, 'readers do not wait')
  })
  await writeValue(waiter, 'a', 'next')
  assert.equal(await readValue(holder, 'a'), 'next')
})

test('a registry that cannot be opened leaves no connection', { skip }, async t => {
  const { url } = await empty()
  const dir = join(folderOf(t), 'registry')
  const purge = { 'cdn.purge_url': 'http://127.0.0.1:1/{url}', 'cdn.purge_body': '{keys}' }
  const sources = { env: {}, flags: { 'database.url': url, ...purge } }
  await initRegistry(dir, sources, {})
  await assert.rejects(openRegistry(dir, sources), refusedWith('cdn_mixed'))
  const database = await open(t, serverSettings(url))
  const others = 'SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()'
  // The pool would close what nobody uses by itself, after ten seconds.
  const isAlone = async () => (await value<number>(database, others)) === 1
  await until(isAlone, () => 'a connection is left', 5000)
})

test('a lost connection: reads go on, a transaction is undone, the next one works', {
  skip,
}, async t => {
  const settings = await empty()
  const database = await open(t, settings)
  const cut = () =>
    execute(
      settings.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plimsoll'",
    )
  await writeValue(database, 'a', '1')
  await cut()
  assert.equal(await readValue(database, 'a'), '1')
  const work = database.transaction(async tx => {
    await writeValue(tx, 'a', '2')
    await cut()
    await writeValue(tx, 'b', '2')
  })
  await assert.rejects(work, refusedWith('database_away'))
  await writeValue(database, 'b', '3')
  assert.deepEqual(
    await all(database, "SELECT key, value FROM facts WHERE key IN ('a', 'b') ORDER BY key"),
    [
      { key: 'a', value: '1' },
      { key: 'b', value: '3' },
    ],
  )
})

test('a process ends although the server says nothing any more', { skip }, async () => {
  const script = `const [, module, settings] = process.argv
    const database = await (await import(module)).openPostgres(JSON.parse(settings))
    const { rows } = await database.execute('SELECT pg_backend_pid() AS pid', [])
    process.kill(rows[0].pid, 'SIGSTOP')
    await database.close()
    console.log(rows[0].pid)`
  const module = join(root, 'dist', 'generator', 'database', 'postgres', 'open.js')
  const args = ['--input-type=module', '-e', script, module, JSON.stringify(await empty())]
  const options = { cwd: root, env: process.env, timeoutMs: 20_000 }
  const { stdout } = await command(process.execPath, args, options)
  process.kill(Number(stdout), 'SIGCONT')
})

test('a wrong database is refused in words', { skip }, async () => {
  const settings = serverSettings(server.url('nowhere'))
  await assert.rejects(openPostgres(settings), (error: unknown) => {
    const reason = 'database "nowhere" does not exist'
    assert.equal((error as Error).message, issue('database_denied', { reason }).message)
    return true
  })
})
