import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GitWorker } from '../../../daemon/workers/git-worker.ts'
import type { GitIndex } from '../../../generator/index.ts'
import { settle } from '../../support/event-loop.ts'

test('a few commits follow changes at once; more of them are a second apart', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let commits = 0
  const index = { commit: async () => ++commits, close: async () => undefined }
  const worker = new GitWorker(index as unknown as GitIndex, error => assert.fail(String(error)))
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await settle()
  }
  await pass(0)
  for (const expected of [2, 3]) {
    worker.wake()
    await pass(0)
    assert.equal(commits, expected)
  }
  worker.wake()
  await pass(0)
  assert.equal(commits, 3, 'the fourth waits')
  await pass(1000)
  assert.equal(commits, 4)
  await worker.close()
})
