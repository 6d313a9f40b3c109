import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteCollector } from '../../../daemon/http/request-body.ts'

const bytes = (from: number, count: number) =>
  Uint8Array.from({ length: count }, (_, at) => from + at)

test('a collector never writes into the memory of a chunk', () => {
  const body = new ByteCollector()
  const memory = bytes(0, 10)
  body.add(memory.subarray(0, 2))
  body.add(bytes(50, 3))
  assert.deepEqual(body.take(), Buffer.from([0, 1, 50, 51, 52]))
  assert.deepEqual(memory, bytes(0, 10))
})

test('a body in chunks of one byte takes the memory of its bytes, not of its chunks', () => {
  const body = new ByteCollector()
  const before = process.memoryUsage()
  for (let at = 0; at < 1_000_000; at++) body.add(Buffer.alloc(1, at))
  const after = process.memoryUsage()
  const held = after.heapUsed + after.external - before.heapUsed - before.external
  assert.ok(held < 64 * 1024 ** 2, `${held} bytes for ${body.size}`)
})
