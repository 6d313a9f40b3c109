import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Name } from '../../../core/name.ts'
import type { Version } from '../../../core/version.ts'
import { deleteReleases } from '../../../generator/delete.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { operatorChange } from '../../../generator/store/catalog/change.ts'
import { verify } from '../../../generator/verify/verify.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { type ImageServer, png, serveImages } from '../../support/image-server.ts'
import { TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'

const MANIFEST = 'repository = "https://github.com/example/demo"'
const COPY = { PLIMSOLL_PAGES_IMAGES: 'copy', PLIMSOLL_PAGES_IMAGE_NETWORKS: '127.0.0.1' }

async function open(t: TestContext, env: Record<string, string>) {
  const registry = await TestRegistry.open(t, { env })
  const token = await registry.user('alice')
  const publish = async (version: string, readme: string, files = {}) => {
    const all = { 'README.md': readme, 'src/lib.rs': '', ...files }
    const parts = { name: 'demo', version, manifest: MANIFEST, files: all }
    const { body } = await registry.publish(token, parts)
    assert.equal('errors' in body, false, JSON.stringify(body))
    await registry.indexWorker.pages.flush()
  }
  const page = async (path = 'crates/demo/index.html') => (await registry.shown(path)) ?? ''
  const becomes = (pattern: RegExp, path?: string) =>
    until(
      async () => pattern.test(await page(path)),
      () => `no ${pattern}`,
    )
  return { registry, publish, page, becomes }
}

/** Serves a picture at every path but `/none`, which does not exist until `repaired` is set. */
async function pictures(t: TestContext): Promise<ImageServer & { repaired: boolean }> {
  const state = { repaired: false }
  const server = await serveImages(new Cleanup(t), (request, response) => {
    if (request.url === '/none' && !state.repaired) response.writeHead(404).end('x')
    else if (request.url === '/page') response.end('<!doctype html><title>x</title>')
    else response.end(png(request.url?.length ?? 0))
  })
  return Object.assign(state, server)
}

function imagesIn(registry: TestRegistry): string[] {
  const folder = join(registry.dir, 'public/images')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter(name => name.includes('.'))
}

test('an image of another host is downloaded once, behind the answer, for all versions', async t => {
  const server = await pictures(t)
  const { registry, publish, page, becomes } = await open(t, COPY)
  const readme = `![logo](${server.url}/logo.png) ![dead](${server.url}/none) ![page](${server.url}/page)`
  await publish('1.0.0', readme)
  await becomes(/<img [^>]*alt="logo"/)
  const html = await page()
  const image = /<img width="8" height="4" src="\.\.\/\.\.\/(images\/[^"]+\.png)" alt="logo"/.exec(
    html,
  )
  assert.deepEqual(readFileSync(join(registry.dir, 'public', image?.[1] ?? '')), png(9))
  await becomes(/src="\.\.\/\.\.\/\.\.\/images\/[^"]+" alt="logo"/, 'crates/demo/1.0.0/index.html')
  assert.match(html, /<a class="image" href="[^"]+\/none"/)
  assert.match(html, /<a class="image" href="[^"]+\/page"/)
  await publish('1.1.0', `${readme} more`)
  assert.match(await page('crates/demo/1.1.0/index.html'), /alt="logo"/, 'known at once')
  assert.deepEqual([...server.asked].sort(), ['/logo.png', '/none', '/page'])
  assert.equal(imagesIn(registry).length, 1)
  assert.deepEqual(registry.buildFailures, [])
})

test('copies go with the last README that shows them, and the others stay', async t => {
  const server = await pictures(t)
  const { registry, publish, becomes } = await open(t, COPY)
  const both = `![all](${server.url}/all.png) ![twin](${server.url}/two.png)`
  await publish('1.0.0', `![all](${server.url}/all.png)`)
  await publish('1.1.0', `${both} ![own](${server.url}/longer.png) ![inside](inside.png)`, {
    'inside.png': png(30),
  })
  await becomes(/<img [^>]*alt="own"/, 'crates/demo/1.1.0/index.html')
  await becomes(/<img [^>]*alt="twin"/, 'crates/demo/1.1.0/index.html')
  await becomes(/<img [^>]*alt="all"/, 'crates/demo/1.0.0/index.html')
  // Paths of the same length get the same picture, so that two images share a copy.
  assert.equal(imagesIn(registry).length, 3)
  const remove = async (version: string) => {
    const deletion = { name: 'demo' as Name, version: version as Version, force: true }
    await deleteReleases(registry.registry, deletion, operatorChange('2026-11-20T13:00:00Z'))
    registry.indexWorker.pages.wake()
    await registry.indexWorker.pages.flush()
    const { database } = registry.registry
    const rows = await database.selectFrom('images').select('id').execute()
    return { files: imagesIn(registry).length, rows: rows.length }
  }
  assert.deepEqual(await remove('1.1.0'), { files: 1, rows: 1 })
  assert.match((await registry.shown('crates/demo/index.html')) ?? '', /<img [^>]*alt="all"/)
  assert.deepEqual(await remove('1.0.0'), { files: 0, rows: 0 })
  assert.deepEqual(registry.buildFailures, [])
})

test('a setting that leaves images out removes their copies', async t => {
  const server = await pictures(t)
  const { registry, publish, becomes } = await open(t, COPY)
  await publish('1.0.0', `![logo](${server.url}/logo.png)`)
  await becomes(/<img [^>]*alt="logo"/, 'crates/demo/1.0.0/index.html')
  assert.equal(imagesIn(registry).length, 1)
  // It would render the pages with the setting that it began with.
  await registry.indexWorker.close(10)
  const site = { ...registry.registry.site, images: 'link' } as const
  const { issues } = await buildPages({ ...registry.registry, site })
  assert.deepEqual([issues, imagesIn(registry)], [[], []])
})

test('what is missing is tried again with growing pauses, and what is no image is not', async t => {
  const server = await pictures(t)
  const { registry, publish, becomes } = await open(t, COPY)
  await publish('1.0.0', `![a](${server.url}/none) ![b](${server.url}/page)`)
  const { database } = registry.registry
  const rows = () =>
    database
      .selectFrom('images')
      .select(['attempts', 'retry_at', 'problem'])
      .orderBy('source')
      .execute()
  const failed = async (attempts: number) =>
    until(
      async () => (await rows()).map(one => one.attempts).join() === `${attempts},1`,
      () => `not ${attempts} attempts`,
    )
  await failed(1)
  const page = { attempts: 1, retry_at: null, problem: 'it is not an image' }
  const none = { attempts: 1, retry_at: '2026-11-20T12:10:00Z', problem: 'the server answers 404' }
  assert.deepEqual(await rows(), [none, page])
  registry.now = new Date('2026-11-20T12:10:00Z')
  await registry.indexWorker.pages.flush()
  await failed(2)
  assert.equal((await rows())[0]?.retry_at, '2026-11-20T13:10:00Z')
  server.repaired = true
  registry.now = new Date('2026-11-20T13:10:00Z')
  await registry.indexWorker.pages.flush()
  await becomes(/<img [^>]*alt="a"/)
  assert.deepEqual([...server.asked].sort(), ['/none', '/none', '/none', '/page'])
})

test('images of the package are shown whatever the setting, and nothing is asked for', async t => {
  const server = await pictures(t)
  const env = { ...COPY, PLIMSOLL_PAGES_IMAGES: 'link' }
  const { registry, publish, page } = await open(t, env)
  const readme = `![in](./docs/a%20b.png?raw=true) ![out](docs/none.png) ![far](${server.url}/x) ![up](../../x.png)`
  await publish('1.0.0', readme, {
    'docs/a b.png': png(3),
    'docs/evil.png': '<script>',
  })
  for (const [path, up] of [
    ['crates/demo/index.html', '../../'],
    ['crates/demo/1.0.0/index.html', '../../../'],
  ] as const) {
    const html = await page(path)
    const images = [...html.matchAll(/<img [^>]*src="([^"]+)" alt="(\w+)"/g)]
    assert.deepEqual(
      images.map(match => match[2]),
      ['in'],
    )
    assert.ok(images[0]?.[1]?.startsWith(`${up}images/`), path)
    assert.match(
      html,
      /<a class="image" href="https:\/\/github\.com\/example\/demo\/raw\/HEAD\/docs\/none\.png"/,
    )
  }
  assert.deepEqual(server.asked, [])
  assert.equal(imagesIn(registry).length, 1)
})

test('a tree that was removed gets its images again', async t => {
  const server = await pictures(t)
  const { registry, publish, page, becomes } = await open(t, COPY)
  await publish('1.0.0', `![far](${server.url}/far) ![near](near.png)`, { 'near.png': png(1) })
  await becomes(/<img [^>]*alt="far"/)
  const before = imagesIn(registry).sort()
  assert.equal(before.length, 2)
  await registry.indexWorker.pages.flush()
  rmSync(join(registry.dir, 'public'), { recursive: true, force: true })
  const { issues } = await buildPages(registry.registry, { all: true })
  assert.deepEqual(issues, [])
  assert.deepEqual(imagesIn(registry).sort(), before)
  assert.match(await page(), /alt="far"/)
  assert.equal(server.asked.length, 2)
})

test('verify finds images that are lost, damaged or of no use, and repairs them', async t => {
  const server = await pictures(t)
  const { registry, publish, page, becomes } = await open(t, COPY)
  await publish('1.0.0', `![far](${server.url}/far) ![near](near.png)`, { 'near.png': png(1) })
  await becomes(/<img [^>]*alt="far"/)
  await registry.indexWorker.pages.flush()
  const sum = 'ab'.repeat(32)
  const { tree } = registry.registry
  const [damaged = '', lost = ''] = imagesIn(registry)
  const found = async (repair: boolean) => {
    const findings: string[] = []
    for await (const { where, what } of verify(registry.registry, { repair, served: false }))
      if (where.startsWith('images/')) findings.push(`${where.slice(7)}: ${what}`)
    return findings.sort()
  }
  assert.deepEqual(await found(false), [])
  await tree.remove(`images/${lost}`)
  const bytes = Buffer.from('damaged')
  const place = { contentType: 'image/png', cache: 'immutable' } as const
  await tree.write({ ...place, path: `images/${damaged}`, bytes })
  await tree.write({ ...place, path: `images/ab/${sum}.png`, bytes })
  await tree.write({ ...place, path: 'images/own.png', bytes })
  const expected = [
    `${damaged}: the image is damaged`,
    `${lost}: the image is missing`,
    `ab/${sum}.png: no README shows this image`,
  ].sort()
  assert.deepEqual(await found(false), expected)
  assert.deepEqual(await found(true), expected)
  await buildPages(registry.registry)
  assert.deepEqual(await found(false), [])
  assert.equal(imagesIn(registry).length, 3, 'the file of the operator stays')
  assert.match(await page(), /alt="far"[\s\S]*alt="near"/)
})
