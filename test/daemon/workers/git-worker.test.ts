import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { GitWorker } from '../../../daemon/workers/git-worker.ts'
import type { GitIndex } from '../../../generator/git/git-index.ts'
import { settle } from '../../support/event-loop.ts'

/** A worker whose first commit is made, with a clock that stands still but for `pass`. */
async function prepare(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  let commits = 0
  const index = {
    commit: async () => ++commits,
    commitConfig: async () => undefined,
    close: async () => undefined,
  }
  const lease = { isMine: async () => true, close: async () => undefined }
  const worker = new GitWorker(
    index as unknown as GitIndex,
    { lease, isLeading: true },
    (error: unknown) => assert.fail(String(error)),
  )
  const pass = async (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
    await settle()
  }
  await worker.start()
  await pass(0)
  return { worker, pass, commits: () => commits }
}

test('a few commits follow changes soon; more of them are a second apart', async t => {
  const { worker, pass, commits } = await prepare(t)
  for (const expected of [2, 3]) {
    worker.wake()
    await pass(99)
    assert.equal(commits(), expected - 1, 'it waits for more changes')
    await pass(1)
    assert.equal(commits(), expected)
  }
  worker.wake()
  await pass(100)
  assert.equal(commits(), 3, 'the fourth waits')
  await pass(1000)
  assert.equal(commits(), 4)
  await worker.close()
})

test('a burst of changes has one commit, two seconds after its first at most', async t => {
  const { worker, pass, commits } = await prepare(t)
  for (let time = 0; time < 2000; time += 50) {
    worker.wake()
    await pass(50)
    assert.equal(commits(), time + 50 < 2000 ? 1 : 2)
  }
  await worker.close()
})
