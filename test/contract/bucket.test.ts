// Mirrors generator/places/bucket-place.ts: what the client needs of every S3
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { Cleanup } from '../support/cleanup.ts'
import { bucketOn } from '../support/s3/bucket.ts'
import { startEngine } from '../support/s3/engine.ts'
import { FakeS3 } from '../support/s3/server.ts'

test('a longer object than is asked for is not read', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)))
  await bucket.put('key', Buffer.from('hello'))
  assert.equal((await bucket.read('key', 5))?.bytes.toString(), 'hello')
  await assert.rejects(bucket.read('key', 4), /longer than 4 bytes/)
})

test('readers of an object are told what its path says', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)), 'a/b', 10_000, 60)
  assert.equal(bucket.name, 's3://test/a/b')
  for (const [path, type, cache] of [
    ['index/de/mo/demo', 'text/plain; charset=utf-8', 'public, max-age=60'],
    ['x/demo-1.0.0.crate', 'application/gzip', 'public, max-age=31536000, immutable'],
  ] as const) {
    const etag = await bucket.put(path, Buffer.from('hello'))
    assert.match(etag ?? '', /^"[^"]+"$/)
    const cksum = createHash('sha256').update('hello').digest('hex')
    assert.deepEqual(await bucket.head(path), { size: 5, etag, cksum })
    const { headers } = await fetch(await bucket.presigned(path, 60))
    assert.deepEqual([headers.get('content-type'), headers.get('cache-control')], [type, cache])
  }
})

test('a list has every object below the prefix, by name, over several pages', async t => {
  const s3 = await startEngine(new Cleanup(t))
  const bucket = bucketOn(s3, 'a/b')
  // A page of a real server has 1,000.
  if (s3 instanceof FakeS3) s3.pageSize = 100
  const length = s3 instanceof FakeS3 ? 101 : 1001
  const names = Array.from({ length }, (_, at) => `many/${String(at).padStart(4, '0')}`)
  const keys = [...names, 'y&<z>', "ü + '(1)*.txt"]
  for (let at = 0; at < keys.length; at += 50)
    await Promise.all(keys.slice(at, at + 50).map(key => bucket.put(key, Buffer.from(key))))
  await bucketOn(s3, 'a/bc').put('other', Buffer.from(''))
  const listed: string[] = []
  for await (const key of bucket.list()) {
    assert.equal(key.size, Buffer.byteLength(key.path))
    listed.push(key.path)
  }
  assert.deepEqual(listed, keys)
  const [last = ''] = names.slice(-1)
  for await (const { path, etag } of bucket.list(last))
    assert.deepEqual([path, etag], [last, (await bucket.head(last))?.etag])
  for await (const key of bucket.list('none')) assert.fail(key.path)
})

test('a presigned address is open to everybody', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)))
  for (const key of ['a b', 'a+b']) {
    await bucket.put(key, Buffer.from(`hello ${key}`))
    const address = await bucket.presigned(key, 60)
    assert.equal(await (await fetch(address)).text(), `hello ${key}`)
    assert.equal((await fetch(address.replace('/prefix/a', '/prefix/b'))).status, 403)
    assert.equal((await fetch(address.replace('Expires=60', 'Expires=61'))).status, 403)
  }
})

test('a body that is not the one that was signed is never stored', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)))
  const cksum = createHash('sha256').update('y').digest('hex')
  await assert.rejects(
    bucket.put('key', Buffer.from('x'), { cksum }),
    error =>
      error instanceof Refusal && error.has('bucket_refuses') && /Mismatch/.test(error.message),
  )
  assert.equal(await bucket.head('key'), null)
})
