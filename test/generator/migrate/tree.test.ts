import assert from 'node:assert/strict'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sha256 } from '../../../core/sha256.ts'
import { migrateCrates } from '../../../generator/migrate/crates.ts'
import { copyTree } from '../../../generator/migrate/tree.ts'
import { openRegistry } from '../../../generator/open.ts'
import { openCrates } from '../../../generator/places/storage.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { sumsBelow } from '../../support/folder.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { startS3 } from '../../support/s3/bucket.ts'

test('a tree that was copied is copied again without a look at what has not changed', async t => {
  const s3 = await startS3(new Cleanup(t))
  const { dir, ok, put } = await registryFolder(t)
  for (const name of ['alpha', 'beta'])
    for (const version of ['1.0.0', '1.1.0'])
      await ok('add', put(`${name}-${version}.crate`, { name, version }))
  const registry = await openRegistry(dir, { env: { ...s3.env({}), PLIMSOLL_GIT_INDEX: 'off' } })
  t.after(() => registry.close())
  const { storage } = registry.settings
  const crates = await openCrates(dir, { ...storage, crates: 's3://test/crates' }, s3.env())
  const copy = await copyTree(registry, 's3://test/www', crates, s3.env())
  const update = async () => {
    await migrateCrates(registry, crates, copy.show)
    s3.requests.length = 0
    await copy.update()
    const asked = s3.requests.map(({ method, key }) => `${method} ${key}`)
    const keys = s3.keys().filter(key => key.startsWith('www/'))
    const there = keys.map(key => [key.slice(4), sha256(s3.objects.get(key)?.bytes ?? '')] as const)
    const here = sumsBelow(join(dir, 'public'))
    assert.deepEqual(new Map(there), here)
    return asked
  }
  const file = (path: string) => join(dir, 'public', ...path.split('/'))
  // As if they were old, except one whose clock was wrong.
  for (const path of sumsBelow(join(dir, 'public')).keys()) utimesSync(file(path), 1, 1)
  utimesSync(file('crates/alpha/badge.svg'), 4e9, 4e9)
  assert.ok((await update()).length > 20)
  await update()
  const isList = (request: string) => request.endsWith(' ')
  assert.deepEqual((await update()).filter(isList), [], 'nothing is listed')
  for (const path of ['crates/alpha/index.html', 'lists/newest-2.html'])
    writeFileSync(file(path), 'new')
  const changed = await update()
  assert.deepEqual(changed.filter(isList), [])
  for (const path of ['crates/alpha/index.html', 'lists/newest-2.html'])
    assert.ok(changed.includes(`PUT www/${path}`), path)
  assert.ok(!changed.some(request => request.includes('beta')), `${changed}`)
  // One is gone, and another one is there.
  rmSync(file('crates/alpha/index.html'))
  writeFileSync(file('crates/alpha/1.0.0/index.html'), 'changed')
  rmSync(file('lists/newest-2.html'))
  writeFileSync(file('lists/newest-3.html'), 'new')
  assert.ok((await update()).some(isList))
  // Whatever a tree shows of it, no version that was deleted is left.
  const beta = 'crates/beta/beta-1.0.0.crate'
  assert.ok(s3.objects.has(`www/${beta}`))
  await ok('delete', 'beta@1.0.0', '--yes')
  await update()
  assert.ok(!s3.objects.has(`www/${beta}`))
})
