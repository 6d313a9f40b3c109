import assert from 'node:assert/strict'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../../core/name.ts'
import { parseVersion } from '../../../../core/version.ts'
import { build } from '../../../../generator/pages/build.ts'
import { deleteReleases, planDeletion } from '../../../../generator/registry/changes/delete.ts'
import type { Registry } from '../../../../generator/registry/registry.ts'
import { verifyCrates } from '../../../../generator/verify/crates.ts'
import { Cleanup } from '../../../support/cleanup.ts'
import { findingsOf } from '../../../support/findings.ts'
import { refusedWith } from '../../../support/refusal.ts'
import { TestRegistry } from '../../../support/registry.ts'
import { registryFolder } from '../../../support/registry-folder.ts'
import { BASE } from '../../../support/release.ts'
import { startS3 } from '../../../support/s3/bucket.ts'
import { until } from '../../../support/until.ts'
import { serveWeb } from '../../../support/web-server.ts'
import { addCrate, indexVersions, newRegistry, OPERATOR } from '../../../support/workplace.ts'

const OWN = 'registry-index = "sparse+https://crates.example/index/"'

/** A registry with `base` 1.0.0 and 1.1.0, and `user` 1.0.0 that needs `base` ^1.1. */
async function scene(t: TestContext): Promise<Registry> {
  const registry = await newRegistry(t)
  for (const version of ['1.0.0', '1.1.0']) await addCrate(registry, { name: 'base', version })
  const manifest = `[dependencies.base]\nversion = "1.1"\n${OWN}\n`
  await addCrate(registry, { name: 'user', version: '1.0.0', manifest })
  await build(registry, { all: true })
  return registry
}

const findings = (registry: Registry) =>
  findingsOf(verifyCrates(registry, { repair: false, served: false }))

async function agrees(registry: Registry): Promise<void> {
  assert.deepEqual(await findings(registry), [])
}

async function files(registry: Registry): Promise<string[]> {
  const lines: string[] = []
  for await (const path of registry.tree.list()) lines.push(path)
  for await (const key of registry.crates.list())
    lines.push(`store ${key.split('/').slice(0, -1).join('/')}`)
  return lines.sort()
}

const base = parseName('base')
const FIRST = { name: base, version: parseVersion('1.0.0'), force: false }

test('a version goes from records, index, public tree and crate store; the others stay', async t => {
  const registry = await scene(t)
  await deleteReleases(registry, FIRST, OPERATOR)
  assert.deepEqual(await files(registry), [
    'crates/base/base-1.1.0.crate',
    'crates/user/user-1.0.0.crate',
    'index/ba/se/base',
    'index/config.json',
    'index/us/er/user',
    'store ba/se/base',
    'store us/er/user',
  ])
  assert.deepEqual(indexVersions(registry, 'index/ba/se/base'), ['1.1.0'])
  await agrees(registry)
})

test('very many requirements on a crate are no work: who writes them counts as a dependent', async t => {
  const registry = await newRegistry(t)
  const many = (length: number, version: (at: number) => string) =>
    Array.from({ length }, (_, at) => {
      const target = `'cfg(a = "${at}")'`
      return `[target.${target}.dependencies.base]\nversion = "${version(at)}"\n${OWN}\n`
    }).join('')
  for (let at = 0; at < 50; at++)
    await addCrate(registry, { name: 'base', version: `1.${at}.0-rc.${at}` })
  for (const [name, manifest] of [
    ['often', many(200, () => '9.1')],
    ['other', many(10, at => `9.${at}`)],
    ['needs', many(10, at => `=1.${at * 5}.0-rc.${at * 5}`)],
    ['wild', many(200, at => `9.${at}`)],
  ] as const)
    await addCrate(registry, { name, version: '1.0.0', manifest })
  const plan = await planDeletion(registry, { ...FIRST, version: null })
  assert.deepEqual(plan.dependents, ['needs 1.0.0', 'wild 1.0.0'])
})

test('what another crate needs goes only by force, and the crate with its last version', async t => {
  const registry = await scene(t)
  const whole = { name: base, version: null, force: false }
  assert.deepEqual((await planDeletion(registry, whole)).dependents, ['user 1.0.0'])
  await assert.rejects(deleteReleases(registry, whole, OPERATOR), refusedWith('delete_needed'))
  assert.equal((await files(registry)).length, 9)
  await deleteReleases(registry, { ...whole, force: true }, OPERATOR)
  assert.deepEqual(await files(registry), [
    'crates/user/user-1.0.0.crate',
    'index/config.json',
    'index/us/er/user',
    'store us/er/user',
  ])
  await agrees(registry)
})

test('a deleted version can come back with the bytes it had, and with no others', async t => {
  const registry = await scene(t)
  await deleteReleases(registry, FIRST, OPERATOR)
  const other = addCrate(registry, { ...FIRST, manifest: '[features]\nnew = []\n' })
  await assert.rejects(other, refusedWith('version_deleted'))
  const twin = addCrate(registry, { name: 'Base', version: '3.0.0' })
  await assert.rejects(twin, refusedWith('name_taken'))
  await addCrate(registry, FIRST)
  await build(registry)
  await agrees(registry)
})

test('a deletion that fails after its records is finished by the next one', async t => {
  const registry = await scene(t)
  const remove = t.mock.method(registry.crates, 'remove', async () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  })
  const unfinished = (error: unknown) =>
    refusedWith('delete_unfinished')(error) && refusedWith('access_denied')(error)
  await assert.rejects(deleteReleases(registry, FIRST, OPERATOR), unfinished)
  const stored = async () =>
    (await files(registry)).filter(file => file === 'store ba/se/base').length
  assert.equal(await stored(), 2)
  await assert.rejects(deleteReleases(registry, FIRST, OPERATOR), unfinished)
  assert.match(
    String(await findings(registry)),
    /^base@1\.0\.0: was deleted, but its bytes are in the crate store \(\S+\)$/,
  )
  remove.mock.restore()
  const { unfinished: left, ...plan } = await planDeletion(registry, FIRST)
  assert.deepEqual([plan.releases, plan.dependents], [[], []])
  assert.deepEqual([left.length, left[0]?.version], [1, '1.0.0'])
  const other = { ...FIRST, version: parseVersion('1.1.0') }
  assert.deepEqual((await planDeletion(registry, other)).unfinished, [])
  // With all versions, what is left of earlier ones goes, too.
  const all = { name: base, version: null, force: true }
  assert.equal((await planDeletion(registry, all)).unfinished.length, 1)
  await deleteReleases(registry, FIRST, OPERATOR)
  assert.equal(await stored(), 1)
  await assert.rejects(deleteReleases(registry, FIRST, OPERATOR), refusedWith('release_unknown'))
  await agrees(registry)
})

test('a deletion that a bucket refused says what to do, and the next one says what it did', async t => {
  const s3 = await startS3(new Cleanup(t))
  const { run, ok, put } = await registryFolder(t, { ...s3.env() })
  await ok('add', put('demo.crate', { name: 'demo', version: '1.0.0' }))
  s3.fault = ({ method }) => (method === 'DELETE' ? 403 : null)
  const failed = await run('delete', 'demo@1.0.0', '--yes')
  assert.deepEqual([failed.code, failed.stdout], [1, ''])
  assert.match(
    failed.stderr,
    /^error: `demo` is gone from the records, .* run the command again .*\nerror: the object storage refuses/,
  )
  s3.fault = () => null
  assert.equal(s3.keys().length, 1)
  const planned = await run('delete', 'demo@1.0.0')
  assert.equal(planned.stdout, 'would remove what is left of demo 1.0.0\n')
  const done = await ok('delete', 'demo@1.0.0', '--yes')
  assert.equal(done, 'removed what was left of demo 1.0.0\n')
  assert.deepEqual(s3.keys(), [])
})

test('unknown crates and versions are refused', async t => {
  const registry = await scene(t)
  const none = { name: parseName('none'), version: null, force: true }
  await assert.rejects(deleteReleases(registry, none, OPERATOR), refusedWith('crate_unknown'))
  const version = { name: base, version: parseVersion('9.9.9'), force: true }
  await assert.rejects(deleteReleases(registry, version, OPERATOR), refusedWith('release_unknown'))
  const build = { name: base, version: parseVersion('1.0.0+x'), force: true }
  const other = refusedWith('release_other_build')
  await assert.rejects(deleteReleases(registry, build, OPERATOR), other)
  await agrees(registry)
})

for (const [crates, pages] of [
  ['s3://test/crates', 's3://test/www'],
  ['crates', 's3://test/www'],
  ['s3://test/crates', 'public'],
] as const) {
  test(`with crates in ${crates} and the tree in ${pages} nothing stays public or in caches`, async t => {
    const s3 = await startS3(new Cleanup(t))
    const purged: string[] = []
    const cdn = await serveWeb(t, async (request, response) => {
      const body = await json(request)
      purged.push(...(body as { files: string[] }).files)
      response.end()
    })
    const places = s3.env({ crates, public: pages })
    const env = { ...places, PLIMSOLL_CDN_PURGE_URL: `${cdn}/purge` }
    const test = await TestRegistry.open(t, { env })
    const token = await test.user('ana')
    const versions = ['1.0.0+a', '1.1.0']
    for (const version of versions) await test.publish(token, { name: 'demo', version })
    await test.indexWorker.settle()
    await test.indexWorker.pages.flush()
    const path = (version: string) => `crates/demo/demo-${version}.crate`
    const addresses = versions.map(version => `${BASE}/${path(version).replace('+', '%2B')}`)
    const isShown = () => versions.map(version => s3.objects.has(`www/${path(version)}`))
    if (pages !== 'public') assert.deepEqual(isShown(), [true, true])
    const name = parseName('demo')
    // Only the copy is left when the process is killed after the removal here: the mark stays.
    s3.fault = ({ method, key }) => (method === 'DELETE' && key.startsWith('www/') ? 403 : null)
    const version = parseVersion('1.0.0+a')
    const deletion = deleteReleases(test.registry, { name, version, force: true }, OPERATOR)
    await (pages === 'public' ? deletion : assert.rejects(deletion))
    s3.fault = () => null
    await build(test.registry)
    if (pages !== 'public') assert.deepEqual(isShown(), [false, true])
    await deleteReleases(test.registry, { name, version: null, force: true }, OPERATOR)
    await test.indexWorker.pages.flush()
    const left = s3.keys().filter(key => /^www\/(?:crates\/demo|index\/de)/.test(key))
    assert.deepEqual(left, [])
    await until(
      () => addresses.every(address => purged.includes(address)),
      () => purged.join('\n'),
    )
  })
}
