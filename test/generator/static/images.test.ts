import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { registryUrls } from '../../../core/urls.ts'
import { buildStatic } from '../../../generator/static/build.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { png, serveImages } from '../../support/image-server.ts'
import { BASE } from '../../support/registry.ts'
import { scratch } from '../../support/scratch.ts'

/** A folder of crates that is built into a tree with its own cache. */
function workshop(t: TestContext, images: string) {
  const folder = scratch(new Cleanup(t))
  const [from, out, cache] = [join(folder, 'from'), join(folder, 'out'), join(folder, 'cache')]
  mkdirSync(from)
  const put = (name: string, version: string, readme: string) => {
    const files = { 'README.md': readme, 'src/lib.rs': '', 'near.png': png(200) }
    const crate = buildCrate({ name, version, files })
    writeFileSync(join(from, `${name}-${version}.crate`), crate)
  }
  const { settings } = resolveSettings({
    env: {
      PLIMSOLL_REGISTRY_BASE_URL: BASE,
      PLIMSOLL_PAGES_IMAGES: images,
      PLIMSOLL_PAGES_IMAGE_NETWORKS: '127.0.0.1',
    },
  })
  const urls = registryUrls({ ...settings.registry, api: 'none' }, BASE)
  const build = (now: string) =>
    buildStatic({ from, out, settings, urls, cache, now: new Date(now) })
  const page = (path: string) => readFileSync(join(out, path), 'utf8')
  const files = () => {
    const folder = join(out, 'images')
    if (!existsSync(folder)) return []
    const all = readdirSync(folder, { recursive: true }).map(String)
    return all.filter(name => name.includes('.'))
  }
  return { put, build, page, files }
}

test('a static tree has its images; each is downloaded once, and dead ones are tried again', async t => {
  let isThere = false
  const server = await serveImages(new Cleanup(t), (request, response) => {
    if (request.url === '/late' && !isThere) response.writeHead(503).end()
    else response.end(png(request.url?.length ?? 0))
  })
  const { put, build, page, files } = workshop(t, 'copy')
  const far = `![far](${server.url}/far)`
  put('alpha', '1.0.0', `${far} ![near](near.png) ![late](${server.url}/late)`)
  put('alpha', '1.1.0', `${far} again`)
  put('beta', '1.0.0', far)
  await build('2026-11-20T12:00:00Z')
  assert.deepEqual([...server.asked].sort(), ['/far', '/late'])
  const old = page('crates/alpha/1.0.0/index.html')
  assert.match(old, /<img width="8" height="4" src="\.\.\/\.\.\/\.\.\/images\/[^"]+" alt="far"/)
  assert.match(old, /<img [^>]*alt="near"/)
  assert.match(old, /<a class="image" href="[^"]+\/late"/)
  assert.match(page('crates/alpha/index.html'), /src="\.\.\/\.\.\/images\/[^"]+" alt="far"/)
  assert.match(page('crates/beta/index.html'), /alt="far"/)
  assert.equal(files().length, 2)

  assert.equal((await build('2026-11-20T13:00:00Z')).changed, 0)
  put('alpha', '1.2.0', `${far} once more`)
  await build('2026-11-20T14:00:00Z')
  assert.equal(server.asked.length, 2, 'the cache knows both')
  isThere = true
  await build('2026-11-22T14:00:00Z')
  assert.match(page('crates/alpha/1.0.0/index.html'), /<img [^>]*alt="late"/)
  assert.equal((await build('2026-11-23T14:00:00Z')).changed, 0)
  assert.deepEqual([...server.asked].sort(), ['/far', '/late', '/late'])
  assert.equal(files().length, 3)
})

test('a crate of many versions keeps all that was downloaded', async t => {
  const server = await serveImages(new Cleanup(t), (request, response) =>
    response.end(png(request.url?.length ?? 0)),
  )
  const { put, build, page } = workshop(t, 'copy')
  for (let at = 0; at < 10; at++)
    put('alpha', `1.0.${at}`, `![n${at}](${server.url}/${'x'.repeat(at)})`)
  await build('2026-11-20T12:00:00Z')
  put('alpha', '1.1.0', 'more')
  await build('2026-11-20T12:00:00Z')
  assert.equal(server.asked.length, 10)
  assert.match(page('crates/alpha/1.0.9/index.html'), /<img [^>]*alt="n9"/)
})

test('without copies, a static tree has the images of the packages', async t => {
  const server = await serveImages(new Cleanup(t), (_, response) => response.end(png(1)))
  const { put, build, page, files } = workshop(t, 'link')
  put('alpha', '1.0.0', `![far](${server.url}/far) ![near](near.png)`)
  await build('2026-11-20T12:00:00Z')
  assert.match(
    page('crates/alpha/index.html'),
    /<a class="image" [^>]*>far<\/a>[^<]*<img [^>]*alt="near"/,
  )
  assert.deepEqual([server.asked, files().length], [[], 1])
  put('alpha', '1.0.0', 'no images')
  await build('2026-11-20T12:00:00Z')
  assert.deepEqual(files(), [], 'an image that nothing shows is removed')
})
