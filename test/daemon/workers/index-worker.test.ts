import assert from 'node:assert/strict'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { OnFailure } from '../../../core/async/on-failure.ts'
import { parseName } from '../../../core/name.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import { IndexWorker } from '../../../daemon/workers/index-worker.ts'
import type { Follower } from '../../../generator/records/crate-change.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { marksOf } from '../../../generator/records/marks.ts'
import { listReleases } from '../../../generator/records/releases.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { isWaiting } from '../../support/event-loop.ts'
import { withQueryHook } from '../../support/query-hook.ts'
import { TestRegistry } from '../../support/registry.ts'
import { listMarks } from '../../support/rows.ts'
import { hookTree } from '../../support/tree-hook.ts'
import { until } from '../../support/until.ts'
import { addCrate, storedPath } from '../../support/workplace.ts'

/** A context that counts the builds of each crate and holds them up at a gate. */
function gated(registry: Registry) {
  const began: number[] = []
  let open = () => {}
  let gate = Promise.resolve()
  const close = () => {
    gate = new Promise(resolve => {
      open = resolve
    })
  }
  const database = withQueryHook(registry.database, async (sql, [ids]) => {
    if (!sql.includes('string_agg(line')) return
    began.push(...(JSON.parse(String(ids)) as number[]))
    await gate
  })
  return { context: { ...registry, database }, began, close, open: () => open() }
}

const fail = (error: unknown) => assert.fail(String(error))

/** Waits until the tree has a file. */
async function shows(test: TestRegistry, path: string): Promise<void> {
  await until(
    async () => (await test.shown(path)) !== null,
    () => `${path} is not shown`,
  )
}

/** Puts a file where the index folder is, so that no index file can be written. */
function breakTree(test: TestRegistry): () => void {
  const index = join(test.registry.tree.root, 'index')
  renameSync(index, `${index}.away`)
  writeFileSync(index, 'in the way')
  return () => {
    rmSync(index)
    renameSync(`${index}.away`, index)
  }
}

test('a failing build does not fail the publish: it warns, is tried again, and shows at last', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const mend = breakTree(test)
  const timers = t.mock.method(globalThis, 'setTimeout').mock
  const pauses = () =>
    timers.calls
      .map(call => Number(call.arguments[1]) / test.timing.retry)
      .filter(times => times >= 1 && Number.isInteger(Math.log2(times)))
      .map(times => times * test.timing.retry)
  const { status, body } = await test.publish(token, { name: 'demo', version: '1.0.0' })
  const late = 'the index of `demo` could not be written yet; the daemon keeps trying'
  assert.deepEqual([status, body.warnings?.other], [200, [late]])
  await until(() => pauses().length >= 5, 'it was not tried again')
  assert.deepEqual(
    pauses().slice(0, 5),
    [1, 2, 4, 8, 16].map(times => times * test.timing.retry),
    'not in a hurry',
  )
  mend()
  assert.equal(await test.shown('index/de/mo/demo'), null)
  await shows(test, 'index/de/mo/demo')
  assert.match((await test.shown('index/de/mo/demo')) ?? '', /"vers":"1\.0\.0"/)
  await until(
    async () => (await listMarks(test.registry.database, 'index')).length === 0,
    'its mark stays',
  )
})

test('the first success has all others that failed shown at once', async t => {
  const test = await TestRegistry.open(t)
  test.timing.retry = 3_600_000
  const worker = new IndexWorker(test.registry, () => undefined, test.timing)
  t.after(() => worker.close())
  const token = await test.user('alice')
  const mend = breakTree(test)
  const demo = { name: 'demo', version: '1.0.0' }
  Object.assign(test, { indexWorker: worker })
  assert.equal((await test.publish(token, demo)).status, 200)
  mend()
  assert.equal((await test.publish(token, { ...demo, name: 'second' })).status, 200)
  await shows(test, 'index/de/mo/demo')
})

test('one crate that cannot be rendered holds up no other', async t => {
  const test = await TestRegistry.open(t)
  const { tree } = test.registry
  const token = await test.user('alice')
  await test.publish(token, { name: 'aaaa', version: '1.0.0' })
  const path = 'index/aa/aa/aaaa'
  let isBroken = true
  hookTree(tree, inner => {
    const { write, writeAll } = inner
    inner.write = async output => {
      if (isBroken && output.path === path) throw new Error('a bad block')
      return write.call(inner, output)
    }
    inner.writeAll = async (texts, ...rest) => {
      if (isBroken && texts.some(text => text.path === path)) throw new Error('a bad block')
      return writeAll.call(inner, texts, ...rest)
    }
  })
  const mend = breakTree(test)
  await test.publish(token, { name: 'aaaa', version: '1.0.1' })
  await test.publish(token, { name: 'bbbb', version: '1.0.0' })
  mend()
  await shows(test, 'index/bb/bb/bbbb')
  assert.match((await test.shown('index/bb/bb/bbbb')) ?? '', /"vers":"1\.0\.0"/)
  const shown = async () => (await test.shown(path)) ?? ''
  assert.doesNotMatch(await shown(), /"vers":"1\.0\.1"/)
  isBroken = false
  await until(async () => (await shown()).includes('"vers":"1.0.1"'), 'the crate is not shown')
})

test('closing waits for what runs', async t => {
  const { registry } = await TestRegistry.open(t)
  const { context, close, open } = gated(registry)
  const indexWorker = new IndexWorker(context, fail)
  close()
  const showing = indexWorker.crate(1)
  const closing = indexWorker.close()
  assert.ok(await isWaiting(closing))
  open()
  await closing
  assert.equal(await showing, true)
})

test('closing tries once more what has failed', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const timing = { build: 1000, retry: 60_000 }
  const indexWorker = new IndexWorker(test.registry, () => {}, timing)
  const mend = breakTree(test)
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  assert.equal(await indexWorker.crate(1), false)
  await test.indexWorker.close()
  mend()
  await indexWorker.close()
  assert.match((await test.shown('index/de/mo/demo')) ?? '', /"vers":"1\.0\.0"/)
})

test('a build that takes too long is late, and is still finished', async t => {
  const { registry } = await TestRegistry.open(t)
  const { context, close, open } = gated(registry)
  const indexWorker = new IndexWorker(context, fail, { build: 20, retry: 20 })
  close()
  assert.equal(await indexWorker.crate(1), false)
  const again = indexWorker.crate(1)
  open()
  assert.equal(await again, true)
  await indexWorker.close()
})

test('catching up renders what was left, and does not fail when it cannot', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  rmSync(test.registry.tree.root, { recursive: true })
  writeFileSync(test.registry.tree.root, 'in the way')
  await test.indexWorker.catchUp()
  assert.equal(test.buildFailures.length, 1)
  rmSync(test.registry.tree.root)
  mkdirSync(test.registry.tree.root)
  await test.indexWorker.catchUp()
  assert.equal(existsSync(join(test.registry.tree.root, 'index/config.json')), true)
  assert.match((await test.shown('index/de/mo/demo')) ?? '', /"vers":"1\.0\.0"/)
})

test('what a build could not render, beside everything else that it did, is a failure and is tried again', async t => {
  const test = await TestRegistry.open(t)
  const { registry } = test
  await addCrate(registry, { name: 'lost', version: '1.0.0' })
  await addCrate(registry, { name: 'kept', version: '1.0.0' })
  const crate = await findCrate(registry.database, parseName('lost'))
  const [release] = await listReleases(registry.database, crate?.id ?? 0)
  const path = storedPath(registry, crateKey(parseName('lost'), release?.cksum ?? ''))
  renameSync(path, `${path}.away`)
  await test.indexWorker.catchUp()
  assert.match((await test.shown('index/ke/pt/kept')) ?? '', /"vers":"1\.0\.0"/)
  assert.equal(await test.shown('index/lo/st/lost'), null)
  assert.match(String(test.buildFailures[0]), /`lost` 1\.0\.0/)
  renameSync(`${path}.away`, path)
  await shows(test, 'index/lo/st/lost')
  assert.match((await test.shown('index/lo/st/lost')) ?? '', /"vers":"1\.0\.0"/)
})

test('a failure is told as mended only when the index and all pages are rendered again', async t => {
  const test = await TestRegistry.open(t)
  await test.everything()
  const told: string[] = []
  const onFailure: OnFailure = () => told.push('failed')
  onFailure.done = () => told.push('done')
  const worker = new IndexWorker(test.registry, onFailure, { build: 10_000, retry: 3_600_000 })
  const mend = breakTree(test)
  await addCrate(test.registry, { name: 'demo', version: '1.0.0' })
  await worker.catchUp()
  await worker.pages.flush()
  assert.deepEqual(new Set(told), new Set(['failed']))
  mend()
  await worker.close()
  assert.equal(told.at(-1), 'done')
})

test('what waits for the index is looked at again when the index is on disk', async t => {
  const { registry } = await TestRegistry.open(t)
  const late: Follower = {
    kind: 'late',
    work: 'what comes late',
    of: 'crate',
    after: 'index',
    changed: async (_, { crate }) => marksOf('late', [crate.id]),
  }
  for (const [more, wakes] of [[[], 0] as const, [[late], 1] as const]) {
    const worker = new IndexWorker(
      { ...registry, followers: [...registry.followers, ...more] },
      fail,
    )
    const { mock } = t.mock.method(worker.pages, 'wake')
    await worker.settle()
    assert.equal(mock.callCount(), wakes)
    await worker.close()
  }
})
