import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CrateStore } from '../../../generator/places/crate-store.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { bucketOn, startS3 } from '../../support/s3/bucket.ts'
import { objectOf } from '../../support/s3/objects.ts'
import { folderOf, once } from '../../support/workplace.ts'

const BYTES = Buffer.from('the bytes of a crate')
const CKSUM = createHash('sha256').update(BYTES).digest('hex')
const KEY = `de/mo/demo/${CKSUM}.crate`
const STORED = `some/prefix/${KEY}`

test('bytes are stored once, with headers for caches, and never overwritten', async t => {
  const s3 = await startS3(new Cleanup(t))
  const store = new CrateStore(bucketOn(s3), folderOf(t))
  await (await store.stage(once(BYTES), 100)).keep(KEY)
  const first = s3.objects.get(STORED)
  assert.deepEqual(first?.headers, {
    'content-type': 'application/gzip',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-amz-meta-sha256': CKSUM,
  })
  await (await store.stage(once(BYTES), 100)).keep(KEY)
  assert.equal(s3.objects.get(STORED), first)
})

test('an answer that is lost after the bytes were stored is a success', async t => {
  const s3 = await startS3(new Cleanup(t))
  const store = new CrateStore(bucketOn(s3), folderOf(t))
  let isLost = false
  s3.fault = ({ method }) => {
    if (isLost || method !== 'PUT') return null
    isLost = true
    return 'lost'
  }
  await (await store.stage(once(BYTES), 100)).keep(KEY)
  assert.deepEqual(s3.objects.get(STORED)?.bytes, BYTES)
  assert.deepEqual(
    s3.requests.map(request => request.method),
    ['PUT', 'PUT', 'HEAD'],
  )
})

test('bytes that another program copied are compared, and rotten ones replaced', async t => {
  const s3 = await startS3(new Cleanup(t))
  const store = new CrateStore(bucketOn(s3), folderOf(t))
  const copied = objectOf(BYTES, {})
  s3.objects.set(STORED, copied)
  await (await store.stage(once(BYTES), 100)).keep(KEY)
  assert.equal(s3.objects.get(STORED), copied)
  s3.objects.set(STORED, objectOf(Buffer.from('the bytes of a crook'), {}))
  assert.equal(await store.localFile(KEY), null)
  await (await store.stage(once(BYTES), 100)).keep(KEY)
  assert.deepEqual(s3.objects.get(STORED)?.bytes, BYTES)
})

test('bytes that were kept are not looked for again, which could fail behind the commit', async t => {
  const root = folderOf(t)
  const store = CrateStore.inFolder(root)
  const staged = await store.stage(once(Buffer.alloc(100_000)), 100_000)
  await staged.keep(KEY)
  renameSync(join(root, 'incoming'), join(root, 'aside'))
  writeFileSync(join(root, 'incoming'), '')
  await staged.discard()
})

test('a local copy is made once', async t => {
  const s3 = await startS3(new Cleanup(t))
  const cache = folderOf(t)
  const store = new CrateStore(bucketOn(s3), cache)
  await (await store.stage(once(BYTES), 100)).keep(KEY)
  s3.requests.splice(0)
  const file = await store.localFile(KEY)
  assert.deepEqual(readFileSync(file?.path ?? ''), BYTES)
  await store.localFile(KEY)
  assert.equal(s3.requests.length, 1)
  await store.sweep()
  assert.ok(existsSync(join(cache, 'crates', `${CKSUM}.crate`)))
})

test('sweep removes what a killed process was receiving, not what one may be receiving now', async t => {
  const cache = folderOf(t)
  const store = CrateStore.inFolder(cache)
  await store.sweep()
  const large = Buffer.alloc(100_000)
  const staged = await store.stage(once(large), large.length)
  const old = join(cache, 'incoming', '.writing-0000000000000000')
  writeFileSync(old, 'half')
  const then = Date.now() / 1000 - 3601
  utimesSync(old, then, then)
  await store.sweep()
  assert.equal(existsSync(old), false)
  await staged.keep(KEY)
  assert.equal(await store.size(KEY), large.length)
})
