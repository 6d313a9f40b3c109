import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuse } from '../../../core/error/error.ts'
import { MirrorWorker } from '../../../daemon/workers/mirror-worker.ts'
import { isMirrored } from '../../../generator/deploy/complete-mirror.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { until } from '../../support/until.ts'
import { newRegistry } from '../../support/workplace.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('it tries again soon while the bucket is away, and rarely while it refuses files', async t => {
  const real = await newRegistry(t)
  const faults = [
    ...Array<'bucket_unreachable'>(8).fill('bucket_unreachable'),
    ...Array<'file_refused'>(11).fill('file_refused'),
    'bucket_unreachable' as const,
  ]
  const learn = async () => {
    const fault = faults.shift()
    if (fault === 'file_refused') refuse(fault, { path: 'crates/a/a-1.0.0.crate', reason: 'large' })
    if (fault === 'bucket_unreachable') refuse(fault, { reason: 'it is away' })
    return new Map()
  }
  const mirror = { bucket: { name: 's3://test/www' }, learn, update: async () => undefined }
  const tree = { mirror, shared: null, async *list() {} }
  const registry = { ...real, tree } as unknown as Registry
  const pauses: number[] = []
  const failures: unknown[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const worker = new MirrorWorker(registry, error => failures.push(error), pause)
  await worker.start()
  await until(
    () => isMirrored(registry),
    () => `the tree is not uploaded after pauses of ${pauses.join(', ')} ms`,
  )
  await worker.close()
  assert.equal(failures.length, 20)
  const seconds = [1, 2, 4, 8, 16, 32, 60, 60].map(pause => 1000 * pause)
  const minutes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360].map(pause => MINUTE * pause)
  assert.deepEqual(pauses, [...seconds, ...minutes, MINUTE])
  assert.equal(Math.max(...pauses), 6 * HOUR)
})
