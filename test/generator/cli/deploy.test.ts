import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { plimsoll } from '../../support/plimsoll.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { folderOf } from '../../support/workplace.ts'

test('a static tree is built and deployed; keys are never printed', async t => {
  const s3 = await startS3(new Cleanup(t))
  const env = { ...s3.env({}), PLIMSOLL_REGISTRY_BASE_URL: 'https://crates.example' }
  const folder = folderOf(t)
  mkdirSync(join(folder, 'crates'))
  const file = join(folder, 'crates', 'demo.crate')
  writeFileSync(file, buildCrate({ name: 'demo', version: '1.0.0' }))
  const ok = async (...args: string[]) => {
    const { code, stdout, stderr } = await plimsoll(folder, args, env)
    assert.equal(code, 0, stderr)
    assert.ok(!`${stdout}${stderr}`.includes(env.AWS_SECRET_ACCESS_KEY))
    return stdout
  }
  await ok('build', '--from', 'crates', '--out', 'public', '--no-cache')
  const to = ['deploy', '--from', 'public', '--to', 's3://test/www']
  assert.match(await ok(...to, '--dry-run'), /^upload crates\/demo\/demo-1\.0\.0\.crate$/m)
  assert.deepEqual(s3.keys(), [])
  assert.match(await ok(...to), /^\d+ files uploaded \(.*\), 0 files removed, 0 files unchanged$/m)
  assert.ok(s3.objects.has('www/crates/demo/demo-1.0.0.crate'))
  assert.ok(s3.objects.has('www/index/de/mo/demo'))
  const again = JSON.parse(await ok(...to, '--json')) as { uploaded: string[]; unchanged: number }
  assert.deepEqual([again.uploaded, again.unchanged], [[], s3.objects.size])
  const inside = await plimsoll(folder, ['deploy', '--from', 'public', '--to', 'public/www'], env)
  assert.match(inside.stderr, /lie inside each other/)
  const wrong = await plimsoll(folder, ['deploy', '--from', 'public', '--to', 's3://X'], env)
  assert.deepEqual([wrong.code, /is not the address of a bucket/.test(wrong.stderr)], [2, true])
})
