import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Disk } from '../../../../generator/places/disk/disk.ts'
import { folderOf } from '../../../support/workplace.ts'

function threaded(t: TestContext): Disk {
  const disk = new Disk()
  disk.useThread()
  t.after(() => disk.close())
  return disk
}

test('steps in a thread do what they do without one, many at once', async t => {
  const folder = folderOf(t)
  for (const [name, disk] of [['here', new Disk()] as const, ['thread', threaded(t)] as const]) {
    const path = (at: number) => join(folder, name, `f${at}`)
    const all = Array.from({ length: 100 }, (_, at) => at)
    // Small Buffers share their memory.
    const write = (at: number) => disk.run('write', path(at), Buffer.from(`text ${at}`))
    for (const isNew of [true, false])
      assert.deepEqual(await Promise.all(all.map(write)), Array(100).fill(isNew))
    for (const at of all) assert.equal(readFileSync(path(at), 'utf8'), `text ${at}`)
    assert.equal(readdirSync(join(folder, name)).length, 100)
  }
})

test('a thread without work holds no process', async t => {
  const holding = () => process.getActiveResourcesInfo().filter(kind => kind === 'MessagePort')
  const before = holding()
  const disk = threaded(t)
  assert.deepEqual(holding(), before)
  await disk.run('sweep', folderOf(t))
  assert.deepEqual(holding(), before)
})

test('an error keeps its code and concerns its step only', async t => {
  const folder = folderOf(t)
  const disk = threaded(t)
  mkdirSync(join(folder, 'taken', 'x'), { recursive: true })
  const [bad, good] = await Promise.allSettled([
    disk.run('write', join(folder, 'taken'), Buffer.from('x')),
    disk.run('write', join(folder, 'free'), Buffer.from('x')),
  ])
  assert.equal(bad.status === 'rejected' && bad.reason.code, 'EISDIR')
  assert.equal(good.status, 'fulfilled')
  assert.deepEqual(readdirSync(folder).sort(), ['free', 'taken'])
})

test('a thread that ends fails what it was doing, and the next step has a new one', async t => {
  const folder = folderOf(t)
  const disk = threaded(t)
  const { mock } = t.mock.method(Worker.prototype, 'postMessage', function (this: Worker) {
    void this.terminate()
  })
  await assert.rejects(disk.run('sweep', folder), /disk thread has ended/)
  mock.restore()
  assert.equal(await disk.run('write', join(folder, 'x'), Buffer.from('x')), true)
})
