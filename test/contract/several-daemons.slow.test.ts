// Mirrors generator/serving.ts and daemon/workers/takeover-worker.ts: several daemons.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Database } from '../../generator/database/connection.ts'
import { ServerLocks } from '../../generator/database/postgres/locks.ts'
import { GitIndex, gitIndexPath } from '../../generator/git/git-index.ts'
import { openRegistry } from '../../generator/open.ts'
import { initRegistry, type Registry } from '../../generator/registry/registry.ts'
import { verifyGit } from '../../generator/verify/git.ts'
import { Cleanup } from '../support/cleanup.ts'
import { Cluster, firstToken, publish, shownVersions } from '../support/cluster.ts'
import { serverSettings } from '../support/engine.ts'
import { git } from '../support/index-repository.ts'
import { type Daemon, serve } from '../support/plimsoll.ts'
import { execute } from '../support/postgres.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { plimsollHere } from '../support/program.ts'
import { until } from '../support/until.ts'
import { addCrate, folderOf } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

/** Opens the registry as one more daemon would. */
async function open(t: TestContext, env: Record<string, string>): Promise<Registry> {
  const dir = folderOf(t)
  await initRegistry(dir, { env }, {})
  const registry = await openRegistry(dir, { env })
  new Cleanup(t).add(() => registry.close())
  return registry
}

/** Publishes through one daemon, and sees the version and its bytes through both. */
async function publishSeen(here: Daemon, there: Daemon, token: string, version: string) {
  assert.equal((await publish(here, token, version)).status, 200)
  for (const daemon of [there, here]) assert.equal((await shownVersions(daemon)).at(-1), version)
  const crate = await fetch(`${there.url}/crates/demo/demo-${version}.crate`)
  assert.equal(crate.status, 200)
  await crate.arrayBuffer()
}

test('two daemons share a database and folders: any publishes, one wins, both show it at once; what a killed one leaves, the other does', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'two')
  const first = await cluster.daemon()
  const token = firstToken(first)
  const two = await cluster.daemon()
  assert.doesNotMatch(two.log(), /plim_\w{38}/)
  await publishSeen(first, two, token, '0.0.0')
  await publishSeen(two, first, token, '0.1.0')
  await publishSeen(first, two, token, '0.2.0')
  for (let at = 0; at < 4; at++) {
    const rivals = [first, two].map((daemon, who) =>
      publish(daemon, token, `1.${at}.0`, `// ${who}`),
    )
    const statuses = (await Promise.all(rivals)).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [200, 409])
  }
  const versions = await shownVersions(two)
  assert.equal(versions.length, 7)
  assert.equal(new Set(versions).size, 7)

  await cluster.yankAndKill(first, token, '1.0.0')
  await until(
    async () => (await shownVersions(two)).includes('1.0.0 yanked'),
    () => `the other daemon does not render it\n${two.log()}`,
  )
  assert.equal((await publish(two, token, '2.0.0')).status, 200)
  await cluster.rendered()
  const { code, stdout } = await plimsollHere(['verify', '--dir', two.dir], cluster.environment())
  assert.equal(code, 0, stdout)
})

test('two daemons share buckets: either shows each publish at once, and no index file gets older', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'buckets', true)
  // Both begin on no records: one of them makes `admin`.
  const [first, second] = await Promise.all([cluster.daemon(), cluster.daemon()])
  const tokens = [first, second].flatMap(daemon => daemon.log().match(/plim_\w{38}/g) ?? [])
  assert.equal(tokens.length, 1)
  const token = tokens[0] ?? ''
  await publishSeen(first, second, token, '0.0.0')
  await publishSeen(second, first, token, '0.1.0')
  const burst = Array.from({ length: 8 }, async (_, at) =>
    publish(at % 2 === 0 ? first : second, token, `1.${at}.0`),
  )
  for (const { status } of await Promise.all(burst)) assert.equal(status, 200)
  const expected = await (await fetch(`${first.url}/index/de/mo/demo`)).text()
  assert.equal(expected.trim().split('\n').length, 10)
  await cluster.rendered()
  const object = (path: string) => cluster.s3?.objects.get(`www/${path}`)?.bytes.toString()
  assert.equal(object('index/de/mo/demo'), expected)
  for (const vers of await shownVersions(second)) {
    assert.ok(cluster.s3?.objects.has(`www/crates/demo/demo-${vers}.crate`))
    const page = await fetch(`${second.url}/crates/demo/${vers}/`)
    assert.equal(await page.text(), object(`crates/demo/${vers}/index.html`))
  }
  const page = await fetch(`${first.url}/crates/demo/`)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  const conditional = { headers: { 'if-none-match': page.headers.get('etag') ?? '' } }
  assert.equal((await fetch(`${first.url}/crates/demo/`, conditional)).status, 304)
  const folder = await fetch(`${second.url}/crates/demo`, { redirect: 'manual' })
  assert.deepEqual([folder.status, folder.headers.get('location')], [301, './demo/'])
  assert.equal((await fetch(`${second.url}/crates/no-crate/`)).status, 404)
  assert.equal((await fetch(`${second.url}/index/no/-c/no-crate`)).status, 404)

  const verify = ['verify', '--dir', second.dir]
  const sound = await plimsollHere(verify, cluster.environment())
  assert.equal(sound.code, 0, sound.stdout)
  const status = await plimsollHere(['status', '--dir', second.dir], cluster.environment())
  assert.match(
    status.stdout,
    /^crates in s3:\/\/test\/crates\ntree in {3}s3:\/\/test\/www\ndatabase /m,
  )
  assert.match(
    await cluster.refusal({ PLIMSOLL_STORAGE_PUBLIC: 's3://test/other' }),
    /not everything is the same there: storage\.public;/,
  )
})

test('daemons with other settings or folders are refused, and one that has ended does not count', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'apart')
  const first = await cluster.daemon()
  assert.match(
    await cluster.refusal({
      PLIMSOLL_LIMITS_CRATE_BYTES: '1MiB',
      PLIMSOLL_REGISTRY_BASE_URL: 'https://other.example',
    }),
    /serves the same database, and not everything is the same there: registry\.base_url, limits\.crate_bytes;/,
  )
  const address = await cluster.query("SELECT value FROM facts WHERE key = 'base'")
  assert.deepEqual(address, [{ value: 'https://crates.example' }])
  assert.match(
    await cluster.refusal({ PLIMSOLL_STORAGE_PUBLIC: 'public' }, undefined, 2),
    /is not its folder: set `storage\.public` to a folder that all daemons share/,
  )
  const { stdout } = await plimsollHere(['status', '--dir', first.dir], cluster.environment())
  const line =
    /^daemon +[0-9a-f]{8} on \S+, process \d+ at http:\S+, version \S+, seen \d+ s ago$/gm
  assert.equal(stdout.match(line)?.length, 1, stdout)
  await first.kill()
  await cluster.query(`UPDATE facts SET value = jsonb_set(CAST(value AS jsonb), '{seen}', '0')
    WHERE key LIKE 'daemon:%'`)
  const dir = folderOf(t)
  await initRegistry(dir, { env: {} }, {})
  const env = cluster.environment({ PLIMSOLL_REGISTRY_TITLE: 'Other' })
  await serve(new Cleanup(t), dir, env)
})

test('a mutex that is lost during work has what was rendered marked again', { skip }, async t => {
  const settings = serverSettings(await server.create('lost'))
  const demo = { kind: 'whole', subject: 1 }
  const marked: unknown[] = []
  const again = async (lost: readonly unknown[]) => void marked.push(...lost)
  const locks = [0, 1].map(() => new ServerLocks(settings, undefined, again)) as [
    ServerLocks,
    ServerLocks,
  ]
  const [first, two] = locks.map(each => each.mutex('build')) as [
    ReturnType<ServerLocks['mutex']>,
    ReturnType<ServerLocks['mutex']>,
  ]
  const cleanup = new Cleanup(t)
  for (const each of locks) cleanup.add(() => each.close())
  const steps: string[] = []
  const second: Promise<void>[] = []
  await first.run(async () => {
    first.renders([demo])
    assert.equal(await first.isHeld(), true)
    second.push(two.run(async () => void steps.push('two')))
    steps.push('one')
    await execute(
      server.url('lost'),
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted`,
    )
    await Promise.all(second)
    steps.push('one goes on')
    assert.equal(await first.isHeld(), false)
  })
  assert.deepEqual(steps, ['one', 'two', 'one goes on'])
  await first.close()
  assert.deepEqual(marked, [demo])
  await two.run(async () => two.renders([demo]))
  await two.close()
  assert.deepEqual(marked, [demo])
})

test('a daemon that loses its mutex while it commits leaves no older file in the git index', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'git')
  const env = cluster.environment()
  const [stale, next] = [await open(t, env), await open(t, env)]
  await addCrate(stale, { name: 'demo', version: '1.0.0' })
  const other = (await GitIndex.open(next)) ?? assert.fail()
  await other.commit()
  let isOvertaken = false
  const overtake = async () => {
    if (isOvertaken) return
    isOvertaken = true
    await cluster.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted`,
    )
    await addCrate(next, { name: 'demo', version: '1.2.0' })
    await other.commit()
  }
  await addCrate(stale, { name: 'demo', version: '1.1.0' })
  const { database: records } = stale
  const database: Database = {
    engine: records.engine,
    execute: (sql, parameters) => records.execute(sql, parameters),
    // The first one reads what is committed.
    transaction: async work => {
      const result = await records.transaction(work)
      await overtake()
      return result
    },
    close: () => records.close(),
  }
  const hooked = { ...stale, database }
  const index = (await GitIndex.open(hooked)) ?? assert.fail()
  await index.commit()
  await index.close()
  await other.commit()
  await other.close()
  const versions = await git(gitIndexPath(next), 'show', 'HEAD:de/mo/demo')
  assert.deepEqual(versions.match(/(?<="vers":")[\d.]+/g), ['1.0.0', '1.1.0', '1.2.0'])
})

test('of daemons that share buckets, the one with the lease writes its git index, which verify compares', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'git_verified', true)
  const env = cluster.environment({ PLIMSOLL_GIT_INDEX: 'on' })
  const [first, second, third] = [await open(t, env), await open(t, env), await open(t, env)]
  await addCrate(first, { name: 'demo', version: '1.0.0' })
  const index = (await GitIndex.openToUpdate(first)) ?? assert.fail()
  const other = (await GitIndex.openToUpdate(second, {}, false)) ?? assert.fail()
  await index.commit()
  const findings = async (registry: Registry) => {
    const names: string[] = []
    for await (const { where } of verifyGit(registry, { repair: false, served: true }))
      names.push(where)
    return names
  }
  for (const registry of [first, second, third]) assert.deepEqual(await findings(registry), [])
  await other.lead()
  await other.commit()
  await other.close()
  // It has written before, and then another one has.
  await index.lead()
  await addCrate(first, { name: 'demo', version: '1.1.0' })
  assert.deepEqual(await findings(first), ['index.git:de/mo/demo'])
  await index.commit()
  await index.close()
  for (const registry of [first, second, third]) assert.deepEqual(await findings(registry), [])
})
