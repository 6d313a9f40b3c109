import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { isStorageRefusal } from '../../../generator/places/disk/fault.ts'
import { followers, MARK_KINDS } from '../../../generator/projections/projections.ts'
import { countMarks, listFailedMarks } from '../../../generator/records/marks.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { TestRegistry } from '../../support/registry.ts'
import { startS3 } from '../../support/s3/bucket.ts'

test('a file that the storage refuses postpones its own mark only', async t => {
  const s3 = await startS3(new Cleanup(t))
  const registry = await TestRegistry.open(t, { env: s3.env({ public: 's3://test/www' }) })
  const { database } = registry.registry
  const refused = 'www/crates/bad/1.0.0/src/index.html'
  s3.fault = ({ method, key }) => (method === 'PUT' && key === refused ? 403 : null)
  const token = await registry.user('ana')
  for (const name of ['bad', 'good', 'later']) {
    await registry.publish(token, { name, version: '1.0.0' })
    await registry.indexWorker.settle()
    await registry.indexWorker.pages.flush()
    for (const page of [`crates/${name}/index.html`, 'index.html'])
      assert.ok(s3.objects.has(`www/${page}`), page)
  }
  for (const error of registry.buildFailures)
    assert.ok(error instanceof Refusal && error.has('file_refused') && !isStorageRefusal(error))
  const failed = await listFailedMarks(database, followers)
  assert.ok(failed.length > 0 && failed.every(failure => failure.error.includes(refused.slice(4))))
  const marked = (await countMarks(database, MARK_KINDS)).reduce((sum, { n }) => sum + n, 0)
  assert.equal(marked, failed.length)
  s3.fault = () => null
  registry.now = new Date(registry.now.getTime() + 7 * 3_600_000)
  await registry.indexWorker.pages.flush()
  assert.ok(s3.objects.has(refused))
  assert.deepEqual(await countMarks(database, MARK_KINDS), [])
})
