// Mirrors site/readme/images.ts
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { png } from '../support/png.ts'
import { scratch } from '../support/scratch.ts'
import { serveFiles } from '../support/static-server.ts'
import { checkView, visit } from './browsing.ts'

let browser: Browser
before(async () => {
  browser = await launchChromium()
})
after(() => browser?.close())

const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="80" onload="x()">
<script>document.title = 'hit'</script>
<rect fill="#12848c" width="320" height="80" rx="8"/><text x="20" y="50" fill="#fff">drawing</text></svg>`

/** No page asks this host: browsers of the tests know no names. */
const README = `# keel

[![Build](https://img.shields.io/badge.svg)](https://ci.example) [![License](https://img.shields.io/badge/license.svg)](LICENSE)

![A screenshot of the package](docs/shot.png)

<p align="center"><img src="docs/drawing.svg" alt="A drawing" width="320"></p>

Text around ![an image elsewhere](https://elsewhere.example/a.png) that is a link.
`

/** Puts a crate into a folder, and returns a function that runs `plimsoll` there. */
function prepared(t: TestContext) {
  const folder = scratch(new Cleanup(t))
  const from = join(folder, 'from')
  mkdirSync(from)
  const files = {
    'README.md': README,
    'src/lib.rs': '',
    'docs/shot.png': png(120),
    'docs/drawing.svg': DRAWING,
  }
  writeFileSync(
    join(from, 'keel-1.0.0.crate'),
    buildCrate({ name: 'keel', version: '1.0.0', files }),
  )
  const run = async (...args: string[]) => {
    const { code, stderr } = await plimsoll(folder, args)
    assert.equal(code, 0, stderr)
  }
  return { folder, run }
}

/** Finds the loaded images of a page. */
async function shown(page: Page): Promise<string[]> {
  return page.locator('.readme img').evaluateAll(async all => {
    const images = all as HTMLImageElement[]
    for (const image of images) image.loading = 'eager'
    await Promise.all(images.map(image => image.decode()))
    return images.filter(image => image.naturalWidth > 0).map(image => image.alt)
  })
}

async function look(url: string, path: string, name: string) {
  await visit(browser, url, path, async page => {
    assert.deepEqual(await shown(page), ['A screenshot of the package', 'A drawing'])
    const link = page.locator('.readme a.image', { hasText: 'an image elsewhere' })
    assert.equal(await link.count(), 1)
    assert.equal(await page.locator('.readme :text-is("License")').count(), 0)
    await checkView(page, name)
  })
}

test('a static tree shows the images of the package', async t => {
  const { folder, run } = prepared(t)
  await run('build', '--from', 'from', '--out', 'out')
  const files = await serveFiles(join(folder, 'out'), '/sub')
  new Cleanup(t).add(() => files.close())
  await look(files.url, 'crates/keel/', 'images-static')
  await look(files.url, 'crates/keel/1.0.0/', 'images-static-version')
})

test('the daemon does the same, and a drawing that is opened can do nothing', async t => {
  const { folder, run } = prepared(t)
  const dir = join(folder, 'registry')
  await run('init', '--dir', dir)
  await run('add', 'from/keel-1.0.0.crate', '--dir', dir)
  await run('build', '--dir', dir)
  const { url } = await serve(new Cleanup(t), dir)
  await look(url, 'crates/keel/', 'images-daemon')
  await visit(browser, url, 'crates/keel/', async page => {
    const drawing = page.locator('.readme img[alt="A drawing"]')
    const src = await drawing.evaluate(image => (image as HTMLImageElement).src)
    const response = await page.goto(src)
    const headers = response?.headers() ?? {}
    assert.match(headers['content-security-policy'] ?? '', /sandbox/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(headers['cache-control'] ?? '', /immutable/)
    assert.equal(headers['content-type'], 'image/svg+xml')
    assert.equal(await page.title(), '')
  })
})
