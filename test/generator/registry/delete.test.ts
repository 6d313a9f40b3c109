import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { type Code, Refusal } from '../../../core/error/error.ts'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { build } from '../../../generator/projections/index/build.ts'
import { deleteReleases, planDeletion } from '../../../generator/registry/delete.ts'
import { initRegistry, openRegistry, type Registry } from '../../../generator/registry/registry.ts'
import { verifyCrates } from '../../../generator/verify/crates.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { plimsollHere } from '../../support/program.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { until } from '../../support/until.ts'
import { addSubmission } from '../../support/workplace.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-delete-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const change = { at: '2026-11-20T12:00:00Z', actor: 'test', user: null, tokenId: null }
let count = 0

/** A registry with `base` 1.0.0 and 1.1.0, and `user` 1.0.0 that needs `base` ^1.1. */
async function withRegistry(work: (registry: Registry) => Promise<void>): Promise<void> {
  const dir = join(folder, String(count++))
  await initRegistry(dir, { env: {} }, { 'registry.base_url': 'http://127.0.0.1:1' })
  const registry = await openRegistry(dir, { env: {} })
  try {
    await add(registry, 'base', '1.0.0')
    await add(registry, 'base', '1.1.0')
    const own = 'registry-index = "sparse+http://127.0.0.1:1/index/"'
    await add(registry, 'user', '1.0.0', `[dependencies.base]\nversion = "1.1"\n${own}\n`)
    await build(registry, { all: true })
    await work(registry)
    const findings = []
    for await (const finding of verifyCrates(registry, { repair: false, served: false }))
      findings.push(finding)
    assert.deepEqual(findings, [])
  } finally {
    await registry.close()
  }
}

async function add(
  registry: Registry,
  name: string,
  version: string,
  manifest = '',
): Promise<void> {
  const crate = buildCrate({ name, version, manifest })
  async function* source() {
    yield crate
  }
  const bytes = await registry.crates.stage(source(), 1e6)
  try {
    await addSubmission(registry, { bytes, pubtime: change.at }, change)
  } finally {
    await bytes.discard()
  }
}

async function files(registry: Registry): Promise<string[]> {
  const found: string[] = []
  for await (const path of registry.tree.list()) found.push(path)
  for await (const key of registry.crates.list())
    found.push(`store ${key.split('/').slice(0, -1).join('/')}`)
  return found.sort()
}

const base = parseName('base')
const refusesWith = (code: Code) => (error: unknown) =>
  error instanceof Refusal && error.issues[0].code === code

test('a version goes from catalog, index, public tree and crate store; the others stay', () =>
  withRegistry(async registry => {
    await deleteReleases(
      registry,
      { name: base, version: parseVersion('1.0.0'), force: false },
      change,
    )
    assert.deepEqual(await files(registry), [
      'crates/base/base-1.1.0.crate',
      'crates/user/user-1.0.0.crate',
      'index/ba/se/base',
      'index/config.json',
      'index/us/er/user',
      'store ba/se/base',
      'store us/er/user',
    ])
    const index = (await registry.tree.read('index/ba/se/base'))?.toString() ?? ''
    assert.deepEqual(
      index
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).vers),
      ['1.1.0'],
    )
  }))

test('what another crate needs goes only by force, and the crate with its last version', () =>
  withRegistry(async registry => {
    const whole = { name: base, version: null, force: false }
    assert.deepEqual((await planDeletion(registry, whole)).dependents, ['user 1.0.0'])
    await assert.rejects(deleteReleases(registry, whole, change), refusesWith('delete_needed'))
    assert.equal((await files(registry)).length, 9)
    await deleteReleases(registry, { ...whole, force: true }, change)
    assert.deepEqual(await files(registry), [
      'crates/user/user-1.0.0.crate',
      'index/config.json',
      'index/us/er/user',
      'store us/er/user',
    ])
  }))

test('a deleted version can come back with the bytes it had, and with no others', () =>
  withRegistry(async registry => {
    await deleteReleases(
      registry,
      { name: base, version: parseVersion('1.0.0'), force: false },
      change,
    )
    await assert.rejects(
      add(registry, 'base', '1.0.0', '[features]\nnew = []\n'),
      refusesWith('version_deleted'),
    )
    await assert.rejects(add(registry, 'Base', '3.0.0'), refusesWith('name_taken'))
    await add(registry, 'base', '1.0.0')
    await build(registry)
  }))

test('a deletion that fails after its records is finished by the next one', t =>
  withRegistry(async registry => {
    const target = { name: base, version: parseVersion('1.0.0'), force: false }
    const remove = t.mock.method(registry.crates, 'remove', async () => {
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
    })
    const unfinished = (error: unknown) =>
      error instanceof Refusal &&
      error.issues.map(({ code }) => code).join() === 'delete_unfinished,access_denied'
    await assert.rejects(deleteReleases(registry, target, change), unfinished)
    const left = 'store ba/se/base'
    assert.deepEqual((await files(registry)).filter(file => file === left).length, 2)
    await assert.rejects(deleteReleases(registry, target, change), unfinished)
    const found = []
    for await (const finding of verifyCrates(registry, { repair: false, served: false }))
      found.push(finding.where)
    assert.deepEqual(found, ['base@1.0.0'])
    remove.mock.restore()
    const plan = await planDeletion(registry, target)
    assert.deepEqual([plan.releases, plan.dependents], [[], []])
    assert.deepEqual(
      plan.unfinished.map(({ version }) => version),
      ['1.0.0'],
    )
    const other = { ...target, version: parseVersion('1.1.0') }
    assert.deepEqual((await planDeletion(registry, other)).unfinished, [])
    // With all versions, what is left of earlier ones goes, too.
    const all = { name: base, version: null, force: true }
    assert.equal((await planDeletion(registry, all)).unfinished.length, 1)
    await deleteReleases(registry, target, change)
    assert.deepEqual((await files(registry)).filter(file => file === left).length, 1)
    await assert.rejects(deleteReleases(registry, target, change), refusesWith('release_unknown'))
  }))

test('a deletion that a bucket refused says what to do, and the next one says what it did', async t => {
  const s3 = await startS3(new Cleanup(t))
  const dir = join(folder, 'bucket')
  const file = join(folder, 'demo-1.0.0.crate')
  writeFileSync(file, buildCrate({ name: 'demo', version: '1.0.0' }))
  const said = (...args: string[]) => plimsollHere([...args, '--dir', dir], s3.env())
  const index = ['--base-url', 'http://127.0.0.1:1']
  assert.equal((await said('init', ...index)).code, 0)
  assert.equal((await said('add', file)).code, 0)
  s3.fault = ({ method }) => (method === 'DELETE' ? 403 : null)
  const failed = await said('delete', 'demo@1.0.0', '--yes')
  assert.deepEqual([failed.code, failed.stdout], [1, ''])
  assert.match(
    failed.stderr,
    /^error: `demo` is gone from the records, .* run the command again .*\nerror: the object storage refuses/,
  )
  s3.fault = () => null
  assert.equal(s3.keys().length, 1)
  const planned = await said('delete', 'demo@1.0.0')
  assert.equal(planned.stdout, 'would remove what is left of demo 1.0.0\n')
  const ended = await said('delete', 'demo@1.0.0', '--yes')
  assert.deepEqual(
    [ended.code, ended.stdout, ended.stderr],
    [0, 'removed what was left of demo 1.0.0\n', ''],
  )
  assert.deepEqual(s3.keys(), [])
})

test('unknown crates and versions are refused', () =>
  withRegistry(async registry => {
    const none = { name: parseName('none'), version: null, force: true }
    await assert.rejects(deleteReleases(registry, none, change), refusesWith('crate_unknown'))
    const version = { name: base, version: parseVersion('9.9.9'), force: true }
    await assert.rejects(deleteReleases(registry, version, change), refusesWith('release_unknown'))
  }))

for (const [crates, pages] of [
  ['s3://test/crates', 's3://test/www'],
  ['crates', 's3://test/www'],
  ['s3://test/crates', 'public'],
] as const) {
  test(`with crates in ${crates} and the tree in ${pages} nothing stays public or in caches`, async t => {
    const cleanup = new Cleanup(t)
    const s3 = await startS3(cleanup)
    const purged: string[] = []
    const cdn = createServer(async (request, response) => {
      const body = await json(request)
      purged.push(...(body as { files: string[] }).files)
      response.end()
    })
    await new Promise<void>(resolve => cdn.listen(0, '127.0.0.1', resolve))
    cleanup.add(() => void cdn.close())
    const address = `http://127.0.0.1:${(cdn.address() as AddressInfo).port}/purge`
    const places = s3.env({ crates, public: pages })
    const env = { ...places, PLIMSOLL_CDN_PURGE_URL: address }
    const test = await TestRegistry.open(t, { env })
    const token = await test.user('ana')
    const versions = ['1.0.0+a', '1.1.0']
    for (const version of versions) await test.publish(token, { name: 'demo', version })
    await test.indexWorker.settle()
    await test.indexWorker.pages.flush()
    const path = (version: string) => `crates/demo/demo-${version}.crate`
    const isShown = () => versions.map(version => s3.objects.has(`www/${path(version)}`))
    if (pages !== 'public') assert.deepEqual(isShown(), [true, true])
    const name = parseName('demo')
    // Only the copy is left when the process is killed after the removal here: the mark stays.
    s3.fault = ({ method, key }) => (method === 'DELETE' && key.startsWith('www/') ? 403 : null)
    const version = parseVersion('1.0.0+a')
    const deletion = deleteReleases(test.registry, { name, version, force: true }, change)
    await (pages === 'public' ? deletion : assert.rejects(deletion))
    s3.fault = () => null
    await build(test.registry)
    if (pages !== 'public') assert.deepEqual(isShown(), [false, true])
    await deleteReleases(test.registry, { name, version: null, force: true }, change)
    await test.indexWorker.pages.flush()
    const left = s3.keys().filter(key => /^www\/(?:crates\/demo|index\/de)/.test(key))
    assert.deepEqual(left, [])
    await until(
      () =>
        versions.every(version => purged.includes(`${BASE}/${path(version).replace('+', '%2B')}`)),
      () => purged.join('\n'),
    )
  })
}
