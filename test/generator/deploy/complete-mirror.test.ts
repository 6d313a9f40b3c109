import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { build } from '../../../generator/build/build.ts'
import { completeMirror, isMirrored } from '../../../generator/deploy/complete-mirror.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { openRegistry } from '../../../generator/registry.ts'
import { readStatus } from '../../../generator/status.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { objectOf } from '../../support/s3/objects.ts'
import { addAndShow, newRegistry } from '../../support/workplace.ts'

for (const crates of ['crates', 's3://test/crates']) {
  test(`a registry with crates in ${crates} gets its whole tree into a bucket, once`, async t => {
    const cleanup = new Cleanup(t)
    const s3 = await startS3(cleanup)
    const before = await newRegistry(t)
    const open = async (publicPlace: string) => {
      const env = { ...s3.env({ crates, public: publicPlace }) }
      const registry = await openRegistry(before.dir, { env })
      cleanup.add(() => registry.close())
      return registry
    }
    const local = await open('public')
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
      ...['1.0.0', '1.1.0'].map(one => `crates/demo/demo-${one}.crate`),
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
    assert.deepEqual([status.places.mirror, status.isMirrored], ['s3://test/www', true])
  })
}
