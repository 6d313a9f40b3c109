import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { completeMirror, isMirrored } from '../../../generator/deploy/complete-mirror.ts'
import { openRegistry } from '../../../generator/open.ts'
import { build } from '../../../generator/pages/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { readStatus } from '../../../generator/status.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode } from '../../support/command.ts'
import { plimsollHere } from '../../support/program.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { objectOf } from '../../support/s3/objects.ts'
import { addAndShow, newRegistry } from '../../support/workplace.ts'

/** A registry with its `.crate` files in a place, and what opens it with its tree in another. */
async function placed(t: TestContext, crates: string) {
  const cleanup = new Cleanup(t)
  const s3 = await startS3(cleanup)
  const before = await newRegistry(t)
  const open = async (publicPlace: string) => {
    const env = { ...s3.env({ crates, public: publicPlace }) }
    const registry = await openRegistry(before.dir, { env })
    cleanup.add(() => registry.close())
    return registry
  }
  return { s3, open, local: await open('public') }
}

for (const crates of ['crates', 's3://test/crates']) {
  test(`a registry with crates in ${crates} gets its whole tree into a bucket, once`, async t => {
    const { s3, open, local } = await placed(t, crates)
    for (const version of ['1.0.0', '1.1.0']) await addAndShow(local, { name: 'demo', version })
    await build(local)
    await buildPages(local)
    assert.equal(await isMirrored(local), true)
    const registry = await open('s3://test/www')
    assert.equal(await isMirrored(registry), false)
    // Stopped on the way, it goes on.
    let left = 5
    s3.fault = ({ method }) => (method === 'PUT' && left-- <= 0 ? 403 : null)
    await assert.rejects(completeMirror(registry))
    assert.equal(await isMirrored(registry), false)
    s3.fault = () => null
    s3.requests.splice(0)
    await completeMirror(registry)
    assert.equal(await isMirrored(registry), true)
    const paths: string[] = []
    for await (const path of registry.tree.list()) paths.push(path)
    const expected = new Set([
      ...paths,
      ...['1.0.0', '1.1.0'].map(version => `crates/demo/demo-${version}.crate`),
    ])
    const there = s3.keys().flatMap(key => (key.startsWith('www/') ? [key.slice(4)] : []))
    assert.deepEqual(there, [...expected].sort())
    for (const path of paths) {
      const bytes = readFileSync(join(registry.tree.root, path))
      assert.ok(s3.objects.get(`www/${path}`)?.bytes.equals(bytes), path)
    }
    // What somebody changed there is put right.
    s3.objects.set('www/index.html', objectOf(Buffer.from('hacked'), {}))
    await completeMirror(registry)
    assert.match(s3.objects.get('www/index.html')?.bytes.toString() ?? '', /<html/)
    // And every change goes there, too.
    await addAndShow(registry, { name: 'demo', version: '1.2.0' })
    assert.match(s3.objects.get('www/index/de/mo/demo')?.bytes.toString() ?? '', /"1\.2\.0"/)
    assert.ok(s3.objects.has('www/crates/demo/demo-1.2.0.crate'))
    const status = await readStatus(registry, new Date(), 10)
    assert.deepEqual([status.mirror, status.mirror_complete], ['s3://test/www', true])
  })
}

test('a tree is uploaded in parts, while it is listed: crates, then the index, then pages', async t => {
  const registry = await newRegistry(t)
  const paths = Array.from({ length: 2500 }, (_, at) => [
    `crates/c${at}/index.html`,
    `index/c${at}`,
    `crates/c${at}/c${at}-1.0.0.crate`,
  ]).flat()
  let [listed, most] = [0, 0]
  const tree = {
    async *list(folder: string) {
      for (const path of paths.filter(path => path.startsWith(folder))) {
        listed++
        yield path
      }
    },
  }
  const uploaded: string[] = []
  const mirror = {
    bucket: { name: 's3://test/www' },
    learn: async () => new Map(),
    update: async ({ files }: { files: readonly string[] }) => {
      uploaded.push(...files)
      most = Math.max(most, files.length)
      if (uploaded.length === files.length) assert.ok(listed < paths.length)
    },
  }
  await completeMirror({ ...registry, tree: { ...tree, mirror } } as unknown as Registry)
  const third = (stage: number) => paths.filter((_, at) => at % 3 === stage)
  assert.deepEqual(uploaded, [...third(2), ...third(1), ...third(0)])
  assert.equal(most, 1000)
})

for (const crates of ['crates', 's3://test/crates']) {
  test(`with crates in ${crates}, a file that the bucket refuses stops no other one`, async t => {
    const { s3, open, local } = await placed(t, crates)
    for (const name of ['demo', 'large', 'other'])
      await addAndShow(local, { name, version: '1.0.0' })
    await build(local)
    await buildPages(local)
    const registry = await open('s3://test/www')
    const page = 'crates/large/index.html'
    const [crate, index] = ['crates/large/large-1.0.0.crate', 'index/la/rg/large']
    const config = 'index/config.json'
    const has = (...paths: string[]) => paths.map(path => s3.objects.has(`www/${path}`))
    const refusing = async (path: string) => {
      s3.fault = ({ method, key }) => (method === 'PUT' && key === `www/${path}` ? 403 : null)
      await assert.rejects(completeMirror(registry), (error: unknown) => {
        assert.ok(error instanceof Refusal)
        assert.deepEqual(
          error.issues.map(issue => [issue.code, issue.message.startsWith(`${path} `)]),
          [['file_refused', true]],
        )
        return true
      })
    }
    // A line of the index does not precede its `.crate`.
    await refusing(crate)
    assert.equal(await isMirrored(registry), false)
    assert.deepEqual(has(crate, index), [false, false])
    const rest = ['crates/demo/demo-1.0.0.crate', 'index/de/mo/demo', 'index/ot/he/other']
    assert.deepEqual(has(...rest, config, page), [true, true, true, true, true])
    await refusing(index)
    assert.equal(await isMirrored(registry), false)
    assert.deepEqual(has(crate, index), [true, false])
    s3.objects.delete(`www/${page}`)
    await refusing(page)
    assert.equal(await isMirrored(registry), true)
    assert.deepEqual(has(crate, index, page), [true, true, false])
    s3.fault = () => null
    await completeMirror(registry)
    assert.deepEqual(has(crate, index, page), [true, true, true])
  })
}

test('a bucket that was not told of changes gets them when it is named again', async t => {
  const s3 = await startS3(new Cleanup(t))
  const { dir, ok, put } = await registryFolder(t)
  const env = { PLIMSOLL_GIT_INDEX: 'off', ...s3.env({ public: 's3://test/www' }) }
  const build = async () => expectCode('build', await plimsollHere(['build', '--dir', dir], env), 0)
  await ok('add', put('demo.crate', { name: 'demo', version: '1.0.0' }))
  await build()
  await ok('yank', 'demo@1.0.0')
  await build()
  const line = s3.objects.get('www/index/de/mo/demo')?.bytes.toString() ?? ''
  assert.match(line, /"yanked":true/)
})
