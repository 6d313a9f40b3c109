import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../../../core/error/error.ts'
import { type Bucket, PART_BYTES } from '../../../../generator/store/s3/bucket.ts'
import { readBody } from '../../../../generator/store/s3/exchange.ts'
import { Cleanup } from '../../../support/cleanup.ts'
import { bucketOn, startS3 } from '../../../support/s3/bucket.ts'
import { folderOf } from '../../../support/workplace.ts'

const object = (text: string | Buffer) => {
  const body = Buffer.from(text)
  return { body, cksum: createHash('sha256').update(body).digest('hex') }
}

async function text(bucket: Bucket, key: string, range?: { start: number; end: number }) {
  const found = await bucket.get(key, range)
  return found && (await readBody(found.bytes, 100)).toString()
}

const refused =
  (code: 'bucket_refuses' | 'bucket_unreachable', reason: RegExp) => (error: unknown) =>
    error instanceof Refusal && error.has(code) && reason.test(error.message)

test('objects are written with headers, read, copied, listed and removed', async t => {
  const s3 = await startS3(new Cleanup(t))
  const bucket = bucketOn(s3, 'a/b')
  assert.equal(bucket.place, 's3://test/a/b')
  const headers = { 'content-type': 'text/plain', 'cache-control': 'no-cache' }
  const key = "x/ü + '(1)*.txt"
  const etag = await bucket.put(key, { ...object('hello world'), headers })
  const { cksum } = object('hello world')
  assert.deepEqual(await bucket.head(key), { size: 11, etag, cksum })
  assert.equal(s3.objects.get(`a/b/${key}`)?.headers['content-type'], 'text/plain')
  assert.equal(await text(bucket, key), 'hello world')
  assert.equal(await text(bucket, key, { start: 6, end: 8 }), 'wor')
  assert.equal(await bucket.copy(key, 'copy'), true)
  assert.equal(await bucket.copy('nothing', 'copy'), false)
  s3.pageSize = 2
  await bucket.put('y&<z>', object(''))
  await bucketOn(s3, 'a/bc').put('other', object(''))
  const keys: string[] = []
  for await (const one of bucket.list()) keys.push(one.key)
  assert.deepEqual(keys, ['copy', key, 'y&<z>'])
  await bucket.remove(key)
  await bucket.remove(key)
  assert.equal(await bucket.head(key), null)
  assert.equal(await text(bucket, key), null)
})

test('a write with a condition happens only when it holds', async t => {
  const bucket = bucketOn(await startS3(new Cleanup(t)))
  const first = await bucket.put('key', { ...object('1'), onlyIf: 'absent' })
  assert.ok(first)
  assert.equal(await bucket.put('key', { ...object('2'), onlyIf: 'absent' }), null)
  assert.equal(await bucket.put('key', { ...object('2'), onlyIf: { etag: '"x"' } }), null)
  assert.equal(await bucket.put('none', { ...object('2'), onlyIf: { etag: first } }), null)
  assert.ok(await bucket.put('key', { ...object('3'), onlyIf: { etag: first } }))
  assert.equal(await text(bucket, 'key'), '3')
})

test('long content goes in parts, from memory and from a file', async t => {
  const s3 = await startS3(new Cleanup(t))
  const bucket = bucketOn(s3)
  const { body, cksum } = object(Buffer.alloc(2 * PART_BYTES + 5, 'abc'))
  const file = join(folderOf(t), 'file')
  writeFileSync(file, body)
  for (const [key, from] of [
    ['memory', body] as const,
    ['file', { file, size: body.length }] as const,
  ]) {
    const etag = await bucket.put(key, { body: from, cksum, onlyIf: 'absent' })
    assert.match(etag ?? '', /-3"$/)
    assert.ok(s3.objects.get(`some/prefix/${key}`)?.bytes.equals(body))
    assert.deepEqual(await bucket.head(key), { size: body.length, etag, cksum })
    assert.equal(await bucket.put(key, { body: from, cksum, onlyIf: 'absent' }), null)
  }
  assert.equal(s3.openUploads, 0)
  s3.fault = ({ query }) => (query.get('partNumber') === '2' ? 403 : null)
  await assert.rejects(bucket.put('broken', { body, cksum }), refused('bucket_refuses', /403/))
  assert.equal(s3.openUploads, 0)
  // The answer to the completion is lost, and the second one finds no upload.
  let isLost = false
  s3.fault = ({ method, query }) => {
    if (isLost || method !== 'POST' || !query.has('uploadId')) return null
    isLost = true
    return 'lost'
  }
  assert.ok(await bucket.put('lost', { body, cksum, onlyIf: 'absent' }))
  assert.ok(s3.objects.has('some/prefix/lost'))
})

test('what may succeed later is tried again, until the budget is used up', async t => {
  const s3 = await startS3(new Cleanup(t))
  const bucket = bucketOn(s3)
  for (const fault of [500, 503, 429, 'cut', 'lost'] as const) {
    let left = 2
    s3.fault = () => (left-- > 0 ? fault : null)
    assert.ok(await bucket.put(`key-${fault}`, object('x')), String(fault))
    assert.equal(s3.requests.splice(0).length, 3, String(fault))
  }
  s3.fault = () => 503
  const hasty = bucketOn(s3, '', 300)
  await assert.rejects(hasty.head('key'), refused('bucket_unreachable', /HEAD 503/))
  assert.ok(s3.requests.length > 1)
  s3.fault = () => 'cut'
  await assert.rejects(hasty.head('key'), refused('bucket_unreachable', /hang up|ECONNRESET/))
})

test('what is not permitted is refused at once, with the reason', async t => {
  const s3 = await startS3(new Cleanup(t))
  s3.fault = () => 403
  const why = refused('bucket_refuses', /PUT 403/)
  await assert.rejects(bucketOn(s3).put('key', object('x')), why)
  assert.equal(s3.requests.length, 1)
})

test('a clock that is wrong is corrected by that of the server', async t => {
  const s3 = await startS3(new Cleanup(t))
  s3.ahead = 3_600_000
  const bucket = bucketOn(s3)
  assert.ok(await bucket.put('key', object('x')))
  assert.equal(await text(bucket, 'key'), 'x')
})

test('a presigned address is open to everybody', async t => {
  const s3 = await startS3(new Cleanup(t))
  const bucket = bucketOn(s3)
  await bucket.put('a b', object('hello'))
  const address = await bucket.presigned('a b', 60)
  assert.equal(await (await fetch(address)).text(), 'hello')
  assert.equal((await fetch(address.replace('a%20b', 'other'))).status, 403)
  s3.ahead = 61_000
  assert.equal((await fetch(address)).status, 403)
})

test('a body that is not the one that was signed is never stored', async t => {
  const s3 = await startS3(new Cleanup(t))
  const wrong = { ...object('x'), cksum: object('y').cksum }
  await assert.rejects(bucketOn(s3).put('key', wrong), refused('bucket_refuses', /Mismatch/))
  assert.deepEqual(s3.keys(), [])
})
