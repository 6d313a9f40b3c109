import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { build } from '../../../generator/pages/build.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { TestRegistry } from '../../support/registry.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { addCrate } from '../../support/workplace.ts'

test('--all renders the tree although its bucket takes nothing, and says so in the end', async t => {
  const s3 = await startS3(new Cleanup(t))
  const { registry } = await TestRegistry.open(t, { env: s3.env({ public: 's3://test/www' }) })
  for (const name of ['demo', 'other', 'third'])
    await addCrate(registry, { name, version: '1.0.0' })
  await build(registry)
  const { tree } = registry
  const paths = ['index/de/mo/demo', 'index/ot/he/other', 'index/th/ir/third']
  for (const path of paths) rmSync(tree.path(path))
  s3.fault = () => 403
  // The mutex is given back after each group of crates.
  let time = 0
  t.mock.method(performance, 'now', () => (time += 1000))
  await assert.rejects(build(registry, { all: true }), /the object storage refuses a request/)
  for (const path of paths) assert.ok(await tree.has(path), path)
})
