import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImageWorker } from '../../../daemon/workers/image-worker.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { png, serveImages } from '../../support/image-server.ts'
import { TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'

const COPY = { PLIMSOLL_PAGES_IMAGES: 'copy', PLIMSOLL_PAGES_IMAGE_NETWORKS: '127.0.0.1' }

async function publish(registry: TestRegistry, readme: string) {
  const token = await registry.user('alice')
  const files = { 'README.md': readme, 'src/lib.rs': '' }
  await registry.publish(token, { name: 'demo', version: '1.0.0', files })
}

test('closing abandons a download that hangs, and the next start begins it again', async t => {
  let isHanging = true
  const server = await serveImages(new Cleanup(t), (_, response) => {
    if (!isHanging) response.end(png(1))
  })
  const registry = await TestRegistry.open(t, { env: COPY })
  await publish(registry, `![a](${server.url}/a.png)`)
  await until(
    () => server.asked.length === 1,
    () => 'nothing was asked for',
  )
  await registry.indexWorker.pages.close(0)
  const row = () =>
    registry.registry.database
      .selectFrom('images')
      .select(['attempts', 'retry_at', 'path'])
      .executeTakeFirst()
  assert.deepEqual(await row(), { attempts: 0, retry_at: '2026-11-20T12:00:00Z', path: null })
  assert.deepEqual(registry.buildFailures, [])
  isHanging = false
  let fetched = 0
  const next = new ImageWorker({
    context: registry.registry,
    onFailure: error => assert.fail(error as Error),
    onFetched: () => void fetched++,
  })
  next.wake()
  await until(
    () => fetched === 1,
    () => 'nothing was downloaded',
  )
  await next.close()
  assert.match((await row())?.path ?? '', /^images\//)
})

test('without copies nothing is downloaded, whatever a README shows', async t => {
  const server = await serveImages(new Cleanup(t), (_, response) => response.end(png(1)))
  const env = { ...COPY, PLIMSOLL_PAGES_IMAGES: 'link' }
  const registry = await TestRegistry.open(t, { env })
  await publish(registry, `![a](${server.url}/a.png)`)
  await registry.indexWorker.pages.flush()
  const images = await registry.registry.database.selectFrom('images').selectAll().execute()
  assert.deepEqual([images, server.asked], [[], []])
})
