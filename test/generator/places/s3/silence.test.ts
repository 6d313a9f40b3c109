// Mirrors generator/places/s3/: servers that do not answer, and readers that take their time
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { BucketPlace } from '../../../../generator/places/bucket-place.ts'
import { closeServer, listen } from '../../../support/loopback.ts'
import { refusedWith } from '../../../support/refusal.ts'
import { environmentOf } from '../../../support/s3/environment.ts'

const SILENCE = 150

const isUnreachable = refusedWith('bucket_unreachable')

/** A server whose answers the test writes, and a bucket there. */
async function served(t: TestContext) {
  const server = createServer()
  const url = await listen(server)
  t.after(() => closeServer(server))
  const bucket = new BucketPlace(
    {
      address: { bucket: 'test', prefix: '' },
      endpoint: url,
      region: 'eu-test-1',
      pathStyle: 'auto',
      env: environmentOf({ url }),
      budget: 0,
      silence: SILENCE,
    },
    0,
  )
  const asked = async () =>
    ((await once(server, 'request'))[1] as ServerResponse).setHeader('etag', '"x"')
  /** Takes several times as long as a server may be silent. */
  const longer = async () => {
    for (let i = 0; i < 4; i++) await assert.rejects(bucket.head('key'), isUnreachable)
  }
  return { bucket, asked, longer }
}

const BYTES = Buffer.alloc(1_000_000, 'plimsoll')
test('a reader that takes nothing for a while gets the whole object', async t => {
  const { bucket, asked, longer } = await served(t)
  const opening = bucket.open('key')
  ;(await asked()).end(BYTES)
  const parts: Buffer[] = []
  await longer()
  for await (const part of (await opening)?.bytes ?? []) {
    if (parts.push(part) === 2) await longer()
  }
  assert.deepEqual(Buffer.concat(parts), BYTES)
})

test('a server that is silent is noticed: before its answer, within it, and after a slow reader', async t => {
  const { bucket, asked, longer } = await served(t)
  await assert.rejects(bucket.open('key'), isUnreachable)
  await assert.rejects(bucket.head('key'), isUnreachable)
  for (const isSlow of [false, true]) {
    const opening = bucket.open('key')
    const response = await asked()
    response.writeHead(200, { 'content-length': BYTES.byteLength })
    response.write(BYTES.subarray(0, 10_000))
    const bytes = (await opening)?.bytes
    if (isSlow) await longer()
    let size = 0
    const read = async () => {
      for await (const part of bytes ?? []) size += part.byteLength
    }
    await assert.rejects(read(), { code: 'ETIMEDOUT' })
    assert.equal(size, 10_000)
  }
})
