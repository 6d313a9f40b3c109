// Mirrors site/readme/images.ts
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { type ImageServer, png, serveImages } from '../support/image-server.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'
import { serveFiles } from '../support/static-server.ts'
import { checkView, visit } from './browsing.ts'

let browser: Browser
before(async () => {
  browser = await launchChromium()
})
after(() => browser?.close())

const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="80" onload="x()">
<script>document.title = 'hit'</script><style>.a { fill: #12848c }</style>
<rect class="a" width="320" height="80" rx="8"/><text x="20" y="50" fill="#fff">drawing</text></svg>`

const readme = (host: string) => `# keel

[![Build](${host}/workflows/ci/badge.svg)](https://ci.example) [![License](${host}/badge/license.svg)](LICENSE)

![A screenshot of the package](docs/shot.png)

<p align="center"><img src="${host}/drawing.svg" alt="A drawing" width="320"></p>

Text around ![a dead image](${host}/dead.png) an image that is gone.
`

const TYPES = new Map([
  ['/drawing.svg', 'image/svg+xml'],
  ['/workflows/ci/badge.svg', 'image/svg+xml'],
])

function hosts(t: TestContext): Promise<ImageServer> {
  return serveImages(new Cleanup(t), (request, response) => {
    const path = request.url ?? ''
    if (path === '/dead.png') response.writeHead(410).end()
    else if (path.endsWith('.svg'))
      response.writeHead(200, { 'content-type': TYPES.get(path) ?? 'text/plain' }).end(DRAWING)
    else response.end(png(9))
  })
}

/** Puts a crate into a folder, and returns it with the environment for a setting. */
function prepared(t: TestContext, host: string, images: string) {
  const folder = scratch(new Cleanup(t))
  const from = join(folder, 'from')
  mkdirSync(from)
  const files = { 'README.md': readme(host), 'src/lib.rs': '', 'docs/shot.png': png(120) }
  writeFileSync(
    join(from, 'keel-1.0.0.crate'),
    buildCrate({ name: 'keel', version: '1.0.0', files }),
  )
  const env = { PLIMSOLL_PAGES_IMAGES: images, PLIMSOLL_PAGES_IMAGE_NETWORKS: '127.0.0.1' }
  const run = async (...args: string[]) => {
    const { code, stderr } = await plimsoll(folder, args, env)
    assert.equal(code, 0, stderr)
  }
  return { folder, env, run }
}

/** Finds the images that a page shows, all of which have been loaded. */
async function shown(page: Page): Promise<string[]> {
  return page.locator('.readme img').evaluateAll(async all => {
    const images = all as HTMLImageElement[]
    for (const one of images) one.loading = 'eager'
    await Promise.all(images.map(one => one.decode()))
    return images.filter(one => one.naturalWidth > 0).map(one => one.alt)
  })
}

const COPIED = ['Build', 'License', 'A screenshot of the package', 'A drawing']

async function look(url: string, path: string, alts: readonly string[], name: string) {
  const work = async (page: Page) => {
    assert.deepEqual(await shown(page), alts)
    assert.equal(await page.locator('.readme a.image', { hasText: 'a dead image' }).count(), 1)
    assert.equal(await page.locator('.readme :text-is("License")').count(), 0)
    await checkView(page, name)
  }
  await visit(browser, url, path, work)
}

test('a static tree shows copies of images, and only those of the package without', async t => {
  const server = await hosts(t)
  for (const [images, alts] of [
    ['copy', COPIED],
    ['link', COPIED.slice(2, 3)],
  ] as const) {
    const { folder, run } = prepared(t, server.url, images)
    await run('build', '--from', 'from', '--out', 'out')
    const files = await serveFiles(join(folder, 'out'), '/sub')
    new Cleanup(t).add(() => files.close())
    server.asked.length = 0
    await look(files.url, 'crates/keel/', alts, `images-static-${images}`)
    await look(files.url, 'crates/keel/1.0.0/', alts, `images-static-version-${images}`)
    assert.deepEqual(server.asked, [], 'no reader asks another host')
  }
})

test('the daemon does the same, and a drawing that is opened can do nothing', async t => {
  const server = await hosts(t)
  const { folder, env, run } = prepared(t, server.url, 'copy')
  const dir = join(folder, 'registry')
  await run('init', '--dir', dir)
  await run('add', 'from/keel-1.0.0.crate', '--dir', dir)
  await run('build', '--dir', dir)
  const { url } = await serve(new Cleanup(t), dir, env)
  server.asked.length = 0
  await look(url, 'crates/keel/', COPIED, 'images-daemon')
  await visit(browser, url, 'crates/keel/', async page => {
    const drawing = page.locator('.readme img[alt="A drawing"]')
    const src = await drawing.evaluate(one => (one as HTMLImageElement).src)
    const response = await page.goto(src)
    const headers = response?.headers() ?? {}
    assert.match(headers['content-security-policy'] ?? '', /sandbox/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(headers['cache-control'] ?? '', /immutable/)
    assert.equal(headers['content-type'], 'image/svg+xml')
    assert.equal(await page.title(), '')
  })
  assert.deepEqual(server.asked, [])
})
