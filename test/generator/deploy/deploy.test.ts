import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { ownDl } from '../../../core/urls/dl-template.ts'
import { deploy } from '../../../generator/deploy/deploy.ts'
import { FolderPlace } from '../../../generator/places/folder-place.ts'
import type { Place } from '../../../generator/places/place.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { refusedWith } from '../../support/refusal.ts'
import { bucketOn, startS3 } from '../../support/s3/bucket.ts'
import { objectOf } from '../../support/s3/objects.ts'
import { folderOf } from '../../support/workplace.ts'

const TREE = {
  'index/config.json': '{"dl":"x"}\n',
  'index/de/mo/demo': '{"name":"demo"}\n',
  'crates/demo/demo-1.0.0.crate': 'bytes',
  'crates/demo/index.html': '<p>',
  'assets/0123456789ab/style.css': 'p{}',
  'assets/own.css': 'p{}',
  'index.git/objects/00/1': 'object',
  'index.git/HEAD': 'ref: refs/heads/master\n',
  'index.html': '<h1>',
  '.nojekyll': '',
}
const PATHS = Object.keys(TREE).sort()

const folderPlace = (root: string) => new FolderPlace(root, { sync: 'never' })

function write(root: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** A tree, and a deployment of it to a target. */
function job(t: TestContext, to: Place, from = write(folderOf(t), TREE)) {
  const run = (options: { removes?: boolean; isPagesOnly?: boolean; isTrial?: boolean } = {}) =>
    deploy({ from, to, removes: false, isTrial: false, ...options })
  return { from, run }
}

async function bucketJob(t: TestContext) {
  const s3 = await startS3(new Cleanup(t))
  return { s3, ...job(t, bucketOn(s3, '', 10_000, 60)) }
}

test('a bucket gets the whole tree with its headers, and then only what changed', async t => {
  const { s3, from, run } = await bucketJob(t)
  const first = await run()
  assert.deepEqual([[...first.uploaded].sort(), first.unchanged], [PATHS, 0])
  assert.deepEqual(s3.keys(), PATHS)
  const headers = (path: string) => {
    const { 'x-amz-meta-sha256': _, ...rest } = s3.objects.get(path)?.headers ?? {}
    return rest
  }
  assert.deepEqual(headers('crates/demo/demo-1.0.0.crate'), {
    'content-type': 'application/gzip',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  assert.deepEqual(headers('index/de/mo/demo'), {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'public, max-age=60',
  })
  s3.requests.splice(0)
  const second = await run()
  assert.deepEqual([second.uploaded, second.unchanged], [[], PATHS.length])
  assert.equal(s3.requests.length, 1)
  write(from, { 'index/de/mo/demo': '{"name":"demo"}\n{}\n', 'index.html': '<h2>' })
  assert.deepEqual((await run()).uploaded, ['index/de/mo/demo', 'index.html'])
})

test('packages where the own `dl` leads go first, too, stay with pages alone, and are removed', async t => {
  const path = 'de/mo/demo/1.0.0'
  const { 'crates/demo/demo-1.0.0.crate': bytes, ...rest } = TREE
  const s3 = await startS3(new Cleanup(t))
  const to = bucketOn(s3, '', 10_000, 60)
  const base = 'https://crates.example'
  const dl = ownDl({ base, dl: `${base}/{lowerprefix}/{crate}/{version}` })
  const from = write(folderOf(t), { ...rest, [path]: bytes })
  const options = { from, to, dl, isTrial: false }
  const first = await deploy({ ...options, removes: false })
  assert.ok(first.uploaded.indexOf(path) < first.uploaded.indexOf('index/config.json'))
  write(from, { [path]: 'other bytes' })
  const pages = await deploy({ ...options, removes: false, isPagesOnly: true })
  assert.deepEqual(pages.uploaded, [])
  rmSync(join(from, path))
  const last = await deploy({ ...options, removes: true })
  assert.deepEqual([last.removed, last.foreign], [[path], []])
})

test('an upload that was stopped anywhere goes on where it was', async t => {
  for (let after = 0; after < PATHS.length; after++) {
    const { s3, run } = await bucketJob(t)
    let left = after
    s3.fault = ({ method }) => (method === 'PUT' && left-- <= 0 ? 403 : null)
    await assert.rejects(run(), Refusal)
    const done = s3.keys().length
    assert.equal(done, after)
    s3.fault = () => null
    assert.equal((await run()).uploaded.length, PATHS.length - done)
    assert.deepEqual(s3.keys(), PATHS)
  }
})

test('objects whose ETag is no MD5 are compared by the checksum of their writer', async t => {
  const { s3, run } = await bucketJob(t)
  await run()
  for (const [key, object] of s3.objects) s3.objects.set(key, { ...object, etag: '"of-a-key"' })
  assert.deepEqual((await run()).uploaded, [])
  const uploaded = s3.objects.get('index.html')
  if (uploaded) s3.objects.set('index.html', { ...uploaded, headers: {} })
  assert.deepEqual((await run()).uploaded, ['index.html'])
})

test('what is no tree is not uploaded', async t => {
  const { run } = job(t, folderPlace(join(folderOf(t), 'www')), folderOf(t))
  await assert.rejects(run(), refusedWith('deploy_no_tree'))
})

test('locks that killed builds and pushes leave in a tree are not uploaded', async t => {
  const locks = { '.building.lock': '', '.building.lock.holder': 'process 1', '.push/lock': '' }
  const from = write(folderOf(t), { ...TREE, ...locks })
  const { uploaded } = await job(t, folderPlace(join(folderOf(t), 'www')), from).run()
  assert.deepEqual([...uploaded].sort(), PATHS)
})

test('pages alone leave what pushes write as it is', async t => {
  const { s3, run } = await bucketJob(t)
  const pushed = [
    'index/config.json',
    'index/de/mo/demo',
    'crates/late/late-1.0.0.crate',
    '.push/x_y',
  ]
  for (const key of pushed) s3.objects.set(key, objectOf(Buffer.from('pushed'), {}))
  s3.objects.set('users/old/index.html', objectOf(Buffer.from('x'), {}))
  const { uploaded, removed, surplus } = await run({ isPagesOnly: true, removes: true })
  assert.deepEqual(
    [...uploaded].sort(),
    PATHS.filter(path => !path.startsWith('index/') && !path.endsWith('.crate')),
  )
  assert.deepEqual([removed, surplus], [['users/old/index.html'], 1])
  for (const key of pushed) assert.equal(s3.objects.get(key)?.bytes.toString(), 'pushed', key)
})
