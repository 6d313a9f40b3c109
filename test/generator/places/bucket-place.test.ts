import assert from 'node:assert/strict'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Code } from '../../../core/error/catalog.ts'
import { Refusal } from '../../../core/error/error.ts'
import { sha256 } from '../../../core/sha256.ts'
import { type Place, probePlace } from '../../../generator/places/place.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { bucketOn, startS3 } from '../../support/s3/bucket.ts'
import { until } from '../../support/until.ts'
import { serveWeb } from '../../support/web-server.ts'
import { folderOf } from '../../support/workplace.ts'

const refused = (code: Code, reason: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.has(code) && reason.test(error.message)

/** Lists a bucket; `paths` gets what it has. */
async function listed(bucket: Place, paths: string[] = []): Promise<void> {
  for await (const { path } of bucket.list()) paths.push(path)
}

test('what may succeed later is tried again, until the budget is used up', async t => {
  const s3 = await startS3(new Cleanup(t))
  const bucket = bucketOn(s3)
  for (const fault of [500, 503, 429, 'cut', 'lost'] as const) {
    let left = 2
    s3.fault = () => (left-- > 0 ? fault : null)
    assert.ok(await bucket.put(`key-${fault}`, Buffer.from('x')), String(fault))
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
  await assert.rejects(bucketOn(s3).put('key', Buffer.from('x')), why)
  assert.equal(s3.requests.length, 1)
})

test('a file that cannot be read is an error, and no attempt leaves it open', async t => {
  const s3 = await startS3(new Cleanup(t))
  const missing = { path: join(folderOf(t), 'missing'), size: 1 }
  await assert.rejects(bucketOn(s3).put('key', missing, { cksum: sha256('x') }), { code: 'ENOENT' })
  const file = join(folderOf(t), 'large')
  const bytes = Buffer.alloc(3_000_000, 'x')
  writeFileSync(file, bytes)
  s3.fault = () => 'cut'
  const large = { path: file, size: bytes.length }
  const put = bucketOn(s3, '', 300).put('key', large, { cksum: sha256(bytes) })
  await assert.rejects(put, refused('bucket_unreachable', /./))
  const open = () =>
    readdirSync('/proc/self/fd').filter(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === file
      } catch {
        return false // closed while the list was read
      }
    })
  await until(
    () => open().length === 0,
    () => `${open().length} are open`,
  )
})

test('a clock that is wrong is corrected by that of the server', async t => {
  const s3 = await startS3(new Cleanup(t))
  s3.ahead = 3_600_000
  const bucket = bucketOn(s3)
  assert.ok(await bucket.put('key', Buffer.from('x')))
  assert.equal((await bucket.read('key'))?.bytes.toString(), 'x')
})

test('a presigned address ends', async t => {
  const s3 = await startS3(new Cleanup(t))
  const bucket = bucketOn(s3)
  await bucket.put('a b', Buffer.from('hello'))
  const address = await bucket.presigned('a b', 60)
  assert.equal((await fetch(address)).status, 200)
  s3.ahead = 61_000
  assert.equal((await fetch(address)).status, 403)
})

test('a page is neither a stored object nor a list nor a removal, whichever requests it answers', async t => {
  const s3 = await startS3(new Cleanup(t))
  const bucket = bucketOn(s3)
  await bucket.put('key', Buffer.from('x'))
  const requests: [method: string, make: () => Promise<unknown>][] = [
    ['PUT', () => bucket.put('key', Buffer.from('y'))],
    ['PUT', () => bucket.put('page.html', Buffer.from('y'))],
    ['HEAD', () => bucket.head('key')],
    ['HEAD', () => probePlace(bucket)],
    ['GET', () => bucket.read('key')],
    ['GET', () => listed(bucket)],
    ['DELETE', () => bucket.remove('key')],
  ]
  for (const headers of [
    { 'content-type': 'text/html' },
    {},
    { etag: '"a"', 'content-type': 'text/html' },
  ])
    for (const [verb, make] of requests) {
      s3.pageHeaders = headers
      s3.fault = ({ method }) => (method === verb ? 'page' : null)
      await assert.rejects(make(), refused('bucket_foreign', /is none \(\w+ 200 with/))
    }
  s3.fault = ({ method }) => (method === 'HEAD' ? 'page' : null)
  s3.pageHeaders = { etag: '"a"' }
  await assert.rejects(probePlace(bucket), refused('bucket_foreign', /a file that is not there/))
  s3.fault = () => null
  await probePlace(bucket)
  assert.equal((await bucket.read('key'))?.bytes.toString(), 'x')
})

test('a list that has more files, but says no way to them, is not the whole list', async t => {
  const answer = `<ListBucketResult><Name>test</Name><IsTruncated>true</IsTruncated><Contents>
    <Key>a</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>"a"</ETag><Size>1</Size>
    </Contents><NextMarker>a</NextMarker></ListBucketResult>`
  const s3 = await startS3(new Cleanup(t))
  const url = await serveWeb(t, (_, answering) => void answering.end(answer))
  const bucket = bucketOn({ ...s3, url }, '')
  const paths: string[] = []
  await assert.rejects(listed(bucket, paths), refused('bucket_foreign', /the beginning of a list/))
  assert.deepEqual(paths, ['a'])
})

test('what an application answers is no object: a weak ETag, a body for a change, no part, no end', async t => {
  const s3 = await startS3(new Cleanup(t))
  let answer: [headers: Record<string, string>, body: string] = [{}, '']
  const url = await serveWeb(t, (_, answering) => {
    answering.writeHead(200, answer[0])
    answering.end(answer[1])
  })
  const bucket = bucketOn({ ...s3, url }, '')
  const page = `<ListBucketResult><Name>test</Name><IsTruncated>true</IsTruncated>
    <NextContinuationToken>a</NextContinuationToken></ListBucketResult>`
  const json = { 'content-type': 'application/json' }
  const cases: [headers: Record<string, string>, body: string, make: () => Promise<unknown>][] = [
    [{ ...json, etag: 'W/"2-a"' }, '{}', () => bucket.put('key', Buffer.from('x'))],
    [{ etag: '"a"', 'content-length': '2' }, '{}', () => bucket.put('key', Buffer.from('x'))],
    [{ etag: '"a"', 'content-length': '2' }, '{}', () => bucket.open('key', { start: 1, end: 1 })],
    [{ etag: '"a"', 'transfer-encoding': 'chunked' }, '{}', () => bucket.read('key')],
    [{}, page, () => listed(bucket)],
  ]
  for (const [headers, body, make] of cases) {
    answer = [headers, body]
    await assert.rejects(make(), refused('bucket_foreign', /is none \(\w+ 200 with/), body)
  }
})
