import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PageWorker } from '../../../daemon/workers/page-worker.ts'
import { pageWork } from '../../../generator/pages/marked.ts'
import { isStorageRefusal } from '../../../generator/places/disk/fault.ts'
import { followers, MARK_KINDS, PAGE_KINDS } from '../../../generator/projections/projections.ts'
import {
  countMarks,
  isMarked,
  listFailedMarks,
  setMarks,
} from '../../../generator/records/marks.ts'
import { assetPath } from '../../../site/layout/assets.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { TestRegistry } from '../../support/registry.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { until } from '../../support/until.ts'

/** One more worker of a registry, which may not fail; it waits before each page. */
function workerOf(
  { registry: context }: TestRegistry,
  waitForIdle = async (): Promise<void> => undefined,
  now?: () => number,
): PageWorker {
  const onFailure = (error: unknown) => assert.fail(error as Error)
  return new PageWorker({ context, onFailure, waitForIdle, ...(now && { now }) })
}

test('a publish does not wait for pages, not even for one that is being rendered', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const published = registry.registry.pageMutex.run(async () => {
    const { body } = await registry.publish(token, { name: 'demo', version: '1.0.0' })
    return [body.errors, await registry.shown('crates/demo/crate.json')]
  })
  assert.deepEqual(await published, [undefined, null])
})

test('a page that cannot be written keeps no other from its turn, fails nobody, and is tried again', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  // A folder where the file is to be.
  const obstacle = join(registry.dir, 'public/crates/first/crate.json')
  mkdirSync(obstacle, { recursive: true })
  for (const name of ['first', 'second']) {
    const { body } = await registry.publish(token, { name, version: '1.0.0' })
    assert.equal('errors' in body, false)
  }
  await registry.indexWorker.pages.flush()
  assert.notEqual(await registry.shown('crates/second/crate.json'), null)
  assert.ok(registry.buildFailures.length > 0)
  const { database } = registry.registry
  const [failed, ...others] = await listFailedMarks(database, followers)
  assert.deepEqual(others, [])
  assert.deepEqual([failed?.crate, failed?.retryAt], ['first', '2026-11-20T12:01:00Z'])
  // A second failure puts the next try off by five minutes: longer than anything here waits.
  registry.now = new Date('2026-11-20T12:01:00Z')
  await registry.indexWorker.pages.flush()
  await registry.publish(token, { name: 'third', version: '1.0.0' })
  await until(
    async () => (await registry.shown('crates/third/crate.json')) !== null,
    'a page waits for a failed one',
  )
  await registry.indexWorker.pages.flush()
  rmSync(obstacle, { recursive: true })
  await registry.indexWorker.pages.flush()
  assert.equal((await pageWork(registry.registry)).count, 1, 'it is not tried again at once')
  registry.now = new Date('2026-11-20T12:06:00Z')
  await registry.indexWorker.pages.flush()
  assert.equal((await pageWork(registry.registry)).count, 0)
  assert.notEqual(await registry.shown('crates/first/crate.json'), null)
})

test('many publishes of one crate render its pages once', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  await registry.indexWorker.pages.close(600)
  let rendered = 0
  const worker = workerOf(registry, async () => void rendered++)
  for (let patch = 0; patch < 5; patch++) {
    await registry.publish(token, { name: 'busy', version: `1.0.${patch}` })
  }
  for (let times = 0; times < 5; times++) worker.wake()
  await worker.close(600)
  // List, crate, feeds, registry, owner, views and part of the site map once; each of the five
  // versions; by what searches find it, and the first layout; the plot that the statistics show; the
  // assets, which this tree does not have yet.
  assert.equal(rendered, 7 + 5 + 1 + 1 + 1 + 1)
})

for (const state of ['rests', 'works'])
  test(`a worker that ${state} when it closes leaves to other daemons what they publish meanwhile`, t =>
    closeAmongOthers(t, state === 'works'))

async function closeAmongOthers(t: TestContext, isWorking: boolean): Promise<void> {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  await registry.indexWorker.pages.close(600)
  let published = 0
  const worker = workerOf(registry, async () => {
    if (published++ < 50)
      await registry.publish(token, { name: `other-${published}`, version: '1.0.0' })
  })
  await registry.publish(token, { name: 'demo', version: '1.0.0' })
  const { database } = registry.registry
  // Their generation is a time.
  await setMarks(database, [{ kind: 'downloads', subject: 1 }], 1_800_000_000)
  if (isWorking) {
    void worker.flush()
    await until(() => published > 0, 'nothing is rendered')
  }
  await worker.close(600)
  assert.notEqual(await registry.shown('crates/demo/index.html'), null)
  assert.equal(await isMarked(database, { kind: 'downloads', subject: 1 }), false)
  assert.equal(await registry.shown(`crates/other-${Math.min(published, 50)}/index.html`), null)
}

test('overviews wait after they were rendered, other pages do not', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  await registry.indexWorker.pages.close(600)
  const { database } = registry.registry
  let now = 0
  const aSecondForEachPage = async () => {
    now += 1000
  }
  const worker = workerOf(registry, aSecondForEachPage, () => now)
  const kinds = async () =>
    (await countMarks(database, MARK_KINDS))
      .map(mark => mark.kind)
      .filter(kind => PAGE_KINDS.includes(kind))
      .sort()
  const manifest = (version: string) =>
    `[package]\nname = "demo"\nversion = "${version}"\nlicense = "MIT"\ndescription = "d"\nkeywords = ["k"]`
  const publish = (version: string) =>
    registry.publish(token, { name: 'demo', version, manifest: manifest(version) })
  await publish('1.0.0')
  await worker.flush()
  assert.deepEqual(await kinds(), [])
  await publish('1.1.0')
  worker.wake()
  await until(
    async () => ((await registry.shown('crates/demo/index.html')) ?? '').includes('1.1.0'),
    'the page of the crate waits for overviews',
  )
  await until(async () => (await kinds()).length === 4, 'other pages are waiting')
  assert.deepEqual(await kinds(), ['feeds', 'label', 'user', 'views'])
  assert.doesNotMatch((await registry.shown('keywords/k/index.html')) ?? '', /1\.1\.0/)
  now += 60_000
  worker.wake()
  await until(async () => (await kinds()).length === 0, 'overviews are still waiting')
  for (const path of ['keywords/k/', 'lists/newest.html', 'crates/'])
    assert.match(
      (await registry.shown(path.replace(/\/$/, '/index.html'))) ?? '',
      /demo<\/strong> <span class="quiet">1\.1\.0/,
      path,
    )
  await worker.close(0)
})

test('closing renders what is pending, and leaves marked what there is no time for', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'late', version: '1.0.0' })
  await registry.indexWorker.pages.close(0)
  assert.equal(await registry.shown('crates/late/crate.json'), null)
  // List, part of the site map, crate, feeds, release, registry, owner, views; by what searches
  // find it.
  assert.equal((await pageWork(registry.registry)).count, 8 + 1)
  const next = workerOf(registry)
  await next.start()
  await next.close(600)
  assert.notEqual(await registry.shown('crates/late/crate.json'), null)
  assert.equal((await pageWork(registry.registry)).count, 0)
})

test('a start does not wait for a bucket that is away; outdated pages follow when it is back', async t => {
  const cleanup = new Cleanup(t)
  const s3 = await startS3(cleanup)
  const env = s3.env({ public: 's3://test/www' })
  const { registry } = await TestRegistry.open(t, { env })
  const failures: unknown[] = []
  const worker = new PageWorker({
    context: { ...registry, site: { ...registry.site, title: 'Another title' } },
    onFailure: error => failures.push(error),
    waitForIdle: async () => undefined,
  })
  cleanup.add(() => worker.close(0))
  s3.fault = () => 403
  await worker.start()
  await worker.flush()
  assert.ok(failures.length > 0 && failures.every(isStorageRefusal))
  assert.equal(await registry.tree.read('index.html'), null)
  s3.fault = () => null
  await worker.flush()
  assert.match(s3.objects.get('www/index.html')?.bytes.toString() ?? '', /Another title/)
  assert.ok(s3.objects.has(`www/${assetPath('style.css')}`))
  assert.equal((await pageWork(registry)).count, 0)
})
