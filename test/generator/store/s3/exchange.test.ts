import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { exchange } from '../../../../generator/store/s3/exchange.ts'

const SILENCE = 100

/** A server whose answers the test writes: what asks it, and the next answer. */
async function served(t: TestContext) {
  const answers: ServerResponse[] = []
  const server = createServer((_, response) => {
    answers.push(response)
    server.emit('asked')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const ask = async () => {
    const asked = once(server, 'asked')
    const one = { method: 'GET', url, target: '/', headers: {}, isStreamed: true }
    const answer = exchange({ ...one, silence: SILENCE })
    answer.catch(() => undefined)
    await asked
    return { answer, response: answers.at(-1) as ServerResponse }
  }
  /** Takes several times as long as a server may be silent. */
  const longer = async () => {
    for (let i = 0; i < 4; i++) await assert.rejects((await ask()).answer, { code: 'ETIMEDOUT' })
  }
  return { ask, longer }
}

const BYTES = Buffer.alloc(1_000_000, 'plimsoll')

test('a reader that takes nothing for a while gets the whole answer', async t => {
  const { ask, longer } = await served(t)
  const { answer, response } = await ask()
  response.end(BYTES)
  const bytes = await answer
  const parts: Buffer[] = []
  await longer()
  for await (const part of bytes as AsyncIterable<Buffer>) {
    if (parts.push(part) === 2) await longer()
  }
  assert.deepEqual(Buffer.concat(parts), BYTES)
})

test('a server that is silent is noticed: before its answer, within it, and after a slow reader', async t => {
  const { ask, longer } = await served(t)
  await assert.rejects((await ask()).answer, { code: 'ETIMEDOUT' })
  for (const isSlow of [false, true]) {
    const { answer, response } = await ask()
    response.writeHead(200, { 'content-length': BYTES.byteLength })
    response.write(BYTES.subarray(0, 10_000))
    const bytes = await answer
    if (isSlow) await longer()
    let size = 0
    const read = async () => {
      for await (const part of bytes as AsyncIterable<Buffer>) size += part.byteLength
    }
    await assert.rejects(read(), { code: 'ECONNRESET' })
    assert.equal(size, 10_000)
  }
})
