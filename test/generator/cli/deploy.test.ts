import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { filesBelow, treeDigest } from '../../support/folder.ts'
import { plimsollHere } from '../../support/program.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

test('a static tree is built and deployed; keys are never printed', async t => {
  const s3 = await startS3(new Cleanup(t))
  const env = { ...s3.env({}), PLIMSOLL_REGISTRY_BASE_URL: 'https://crates.example' }
  const folder = folderOf(t)
  writeCrate(join(folder, 'crates', 'demo.crate'), { name: 'demo', version: '1.0.0' })
  const ok = async (...args: string[]) => {
    const { code, stdout, stderr } = await plimsollHere(args, env, { cwd: folder })
    assert.equal(code, 0, stderr)
    assert.ok(!`${stdout}${stderr}`.includes(env.AWS_SECRET_ACCESS_KEY))
    return stdout
  }
  await ok('build', '--from', 'crates', '--out', 'public', '--no-cache')
  const to = ['deploy', '--from', 'public', '--to', 's3://test/www']
  const trial = await ok(...to, '--dry-run')
  assert.match(trial, /^upload crates\/demo\/demo-1\.0\.0\.crate$/m)
  assert.match(trial, /^\d+ files to upload \(.*\), 0 files to remove, 0 files unchanged$/m)
  assert.deepEqual(s3.keys(), [])
  assert.match(await ok(...to), /^\d+ files uploaded \(.*\), 0 files removed, 0 files unchanged$/m)
  assert.ok(s3.objects.has('www/crates/demo/demo-1.0.0.crate'))
  assert.ok(s3.objects.has('www/index/de/mo/demo'))
  const again = JSON.parse(await ok(...to, '--json')) as { uploaded: string[]; unchanged: number }
  assert.deepEqual([again.uploaded, again.unchanged], [[], s3.objects.size])
  const words = ['deploy', '--from', 'public', '--to', 'public/www']
  const inside = await plimsollHere(words, env, { cwd: folder })
  assert.match(inside.stderr, /lie inside each other/)
})

test('a registry folder is no target, also with the --delete that a deploy names', async t => {
  const folder = folderOf(t)
  const put = (name: string) =>
    writeCrate(join(folder, 'from', `${name}.crate`), { name, version: '1.0.0' })
  put('demo')
  put('other')
  const env = { PLIMSOLL_REGISTRY_BASE_URL: 'https://crates.example' }
  const call = (...args: string[]) => plimsollHere(args, env, { cwd: folder })
  const build = () => call('build', '--from', 'from', '--out', 'pub', '--no-cache')
  assert.equal((await build()).code, 0)
  assert.equal((await call('init', '--dir', 'regd')).code, 0)
  assert.equal((await call('add', 'from', '--dir', 'regd')).code, 0)
  const before = treeDigest(join(folder, 'regd', 'public'))
  const { code, stderr } = await call('deploy', '--from', 'pub', '--to', 'regd', '--delete')
  const said = `error: ${join(folder, 'regd')} is a registry folder, into which no tree is uploaded; nothing was changed; choose another --to\n`
  assert.deepEqual([code, stderr], [2, said])
  assert.equal(treeDigest(join(folder, 'regd', 'public')), before)

  // What `deploy` says of a tree: what `--delete` removes, and what stays.
  assert.equal((await call('deploy', '--from', 'pub', '--to', 'www')).code, 0)
  writeFileSync(join(folder, 'www', 'CNAME'), 'crates.example')
  rmSync(join(folder, 'from', 'other.crate'))
  assert.equal((await build()).code, 0)
  const rest = (await call('deploy', '--from', 'pub', '--to', 'www')).stdout.split('\n')
  assert.match(
    rest[1] ?? '',
    /^\d+ files there that the tree does not have; `--delete` removes them, `--delete --dry-run` lists them$/,
  )
  assert.equal(rest[2], '1 file there not of a tree, such as CNAME: left alone')
  const gone = (await call('deploy', '--from', 'pub', '--to', 'www', '--delete')).stdout.split('\n')
  assert.match(gone[0] ?? '', / [1-9]\d* files removed/)
  assert.equal(gone[1], rest[2])
  assert.deepEqual(
    filesBelow(join(folder, 'www')),
    [...filesBelow(join(folder, 'pub')), 'CNAME'].sort(),
  )
})
