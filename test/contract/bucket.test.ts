// Mirrors generator/places/s3/: what the client needs of every S3
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import type { Bucket, NewObject } from '../../generator/places/s3/bucket.ts'
import { readBody } from '../../generator/places/s3/reading.ts'
import { Cleanup } from '../support/cleanup.ts'
import { bucketOn } from '../support/s3/bucket.ts'
import { startEngine } from '../support/s3/engine.ts'
import { FakeS3 } from '../support/s3/server.ts'
import { folderOf } from '../support/workplace.ts'

const object = (text: string | Buffer) => {
  const body = Buffer.from(text)
  return { body, cksum: createHash('sha256').update(body).digest('hex') }
}

async function text(bucket: Bucket, key: string, range?: { start: number; end: number }) {
  const found = await bucket.get(key, range)
  return found && (await readBody(found.bytes, 100)).toString()
}

test('objects are written with headers, read, copied and removed', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)), 'a/b')
  assert.equal(bucket.place, 's3://test/a/b')
  const headers = { 'content-type': 'text/plain', 'cache-control': 'public, max-age=60' }
  const key = "x/ü + '(1)*.txt"
  const etag = await bucket.put(key, { ...object('hello world'), headers })
  assert.match(etag ?? '', /^"[^"]+"$/)
  const { cksum } = object('hello world')
  assert.deepEqual(await bucket.head(key), { size: 11, etag, cksum })
  const seen = await fetch(await bucket.presigned(key, 60))
  for (const [name, value] of Object.entries(headers)) assert.equal(seen.headers.get(name), value)
  assert.equal(await text(bucket, key), 'hello world')
  assert.equal(await text(bucket, key, { start: 6, end: 8 }), 'wor')
  assert.equal(await bucket.copy(key, 'copy'), true)
  assert.deepEqual(await bucket.head('copy'), { size: 11, etag, cksum })
  assert.equal(await bucket.copy('nothing', 'copy'), false)
  await bucket.remove(key)
  await bucket.remove(key)
  assert.equal(await bucket.head(key), null)
  assert.equal(await text(bucket, key), null)
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
    await Promise.all(keys.slice(at, at + 50).map(key => bucket.put(key, object(key))))
  await bucketOn(s3, 'a/bc').put('other', object(''))
  const listed: string[] = []
  for await (const one of bucket.list()) {
    assert.equal(one.size, Buffer.byteLength(one.key))
    listed.push(one.key)
  }
  assert.deepEqual(listed, keys)
  const [last = ''] = names.slice(-1)
  for await (const { key, etag } of bucket.list(last))
    assert.deepEqual([key, etag], [last, (await bucket.head(last))?.etag])
  for await (const one of bucket.list('none')) assert.fail(one.key)
})

test('a write with a condition happens only when it holds', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)))
  const first = await bucket.put('key', { ...object('1'), onlyIf: 'absent' })
  assert.ok(first)
  assert.equal(await bucket.put('key', { ...object('2'), onlyIf: 'absent' }), null)
  assert.equal(await bucket.put('key', { ...object('2'), onlyIf: { etag: '"x"' } }), null)
  assert.equal(await bucket.put('none', { ...object('2'), onlyIf: { etag: first } }), null)
  assert.ok(await bucket.put('key', { ...object('3'), onlyIf: { etag: first } }))
  assert.equal(await text(bucket, 'key'), '3')
})

/** Writes under one condition many times at once; returns the ETag of the one that happened. */
async function race(bucket: Bucket, onlyIf: NonNullable<NewObject['onlyIf']>): Promise<string> {
  const writes = Array.from({ length: 20 }, async (_, at) => {
    const etag = await bucket.put('key', {
      ...object(`write ${at} if ${JSON.stringify(onlyIf)}`),
      onlyIf,
    })
    return { at, etag }
  })
  const [winner, ...others] = (await Promise.all(writes)).filter(({ etag }) => etag !== null)
  assert.deepEqual(others, [])
  assert.equal(await text(bucket, 'key'), `write ${winner?.at} if ${JSON.stringify(onlyIf)}`)
  return winner?.etag ?? ''
}

test('of many writes at once under one condition, one happens', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)))
  let etag = await race(bucket, 'absent')
  for (let round = 0; round < 3; round++) etag = await race(bucket, { etag })
})

test('long content goes whole, from memory and from a file', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)))
  const { body, cksum } = object(Buffer.alloc(17_000_000, 'abc'))
  const file = join(folderOf(t), 'file')
  writeFileSync(file, body)
  const headers = { 'content-type': 'application/gzip' }
  for (const [key, from] of [
    ['memory', body] as const,
    ['file', { file, size: body.length }] as const,
  ]) {
    const etag = await bucket.put(key, { body: from, cksum, headers, onlyIf: 'absent' })
    assert.match(etag ?? '', /^"[^"]+"$/)
    assert.deepEqual(await bucket.head(key), { size: body.length, etag, cksum })
    const found = await bucket.get(key)
    assert.ok(found)
    assert.ok((await readBody(found.bytes, body.length)).equals(body))
    const onlyIf = key === 'file' ? ('absent' as const) : { etag: '"x"' }
    assert.equal(await bucket.put(key, { body: from, cksum, headers, onlyIf }), null)
  }
})

test('a presigned address is open to everybody', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)))
  for (const key of ['a b', 'a+b']) {
    await bucket.put(key, object(`hello ${key}`))
    const address = await bucket.presigned(key, 60)
    assert.equal(await (await fetch(address)).text(), `hello ${key}`)
    assert.equal((await fetch(address.replace('/prefix/a', '/prefix/b'))).status, 403)
    assert.equal((await fetch(address.replace('Expires=60', 'Expires=61'))).status, 403)
  }
})

test('a body that is not the one that was signed is never stored', async t => {
  const bucket = bucketOn(await startEngine(new Cleanup(t)))
  const wrong = { ...object('x'), cksum: object('y').cksum }
  await assert.rejects(
    bucket.put('key', wrong),
    error =>
      error instanceof Refusal && error.has('bucket_refuses') && /Mismatch/.test(error.message),
  )
  assert.equal(await bucket.head('key'), null)
})
