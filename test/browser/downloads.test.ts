// Mirrors site/elements/downloads.ts
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { dayOf } from '../../core/day-counts.ts'
import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { addDownloads } from '../../generator/records/downloads/add.ts'
import { initRegistry, openRegistry, type Registry } from '../../generator/registry/registry.ts'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { fillRegistry, harbour } from '../support/harbour.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'
import { serveFiles } from '../support/static-server.ts'
import { checkPage, checkView, picture, visit } from './browsing.ts'

/** The daemon, and a copy of its public tree behind a dumb file server. */
const urls = { daemon: '', files: '' }
let browser: Browser
let registry: Registry
const cleanup = new Cleanup({ after })

before(async () => {
  browser = await launchChromium()
  const dir = join(scratch(cleanup), 'registry')
  const past = 'http://127.0.0.1'
  const sources = { env: { PLIMSOLL_REGISTRY_BASE_URL: past, PLIMSOLL_GIT_INDEX: 'off' } }
  await initRegistry(dir, sources, {})
  registry = await openRegistry(dir, sources)
  await fillRegistry(registry, harbour(`sparse+${past}/index/`))
  await count('keel', '1.4.0', day => 20 + ((day * 7919) % 13) + (day % 7 < 5 ? 40 : 0))
  await count('keel', '1.3.1', day => 90 - day)
  await count('hostile', '1.0.0', day => (day === 40 ? 1 : 0))
  await registry.close()
  const { code, stderr } = await plimsoll(dir, ['build', '--dir', dir], sources.env)
  assert.equal(code, 0, stderr)
  const server = await serveFiles(join(dir, 'public'), '/sub/path')
  cleanup.add(() => server.close())
  urls.files = server.url
  urls.daemon = (await serve(cleanup, dir, { PLIMSOLL_GIT_INDEX: 'off' })).url
})
after(() => browser?.close())

/** Adds downloads on the last 90 days; `amount` is how many, by the number of the day. */
async function count(name: string, version: string, amount: (day: number) => number) {
  const now = new Date()
  const release = { name: parseName(name), version: parseVersion(version) }
  const counts = Array.from({ length: 90 }, (_, at) => {
    return { release, day: dayOf(now) - 89 + at, n: amount(at) }
  })
  const missing = await registry.database.transaction(tx => addDownloads(tx, counts, now))
  assert.deepEqual(missing, [])
}

/** Waits until the script has described the drawing, and that is loaded. */
async function described(page: Page, alt: RegExp): Promise<void> {
  const image = page.locator('.downloads img')
  await image.scrollIntoViewIfNeeded()
  await page.waitForFunction(() =>
    /in total/.test(document.querySelector<HTMLImageElement>('.downloads img')?.alt ?? ''),
  )
  assert.match((await image.getAttribute('alt')) ?? '', alt)
  assert.ok(
    await image.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0),
  )
}

for (const place of ['files', 'daemon'] as const) {
  test(`${place}: the downloads of a crate`, () =>
    visit(browser, urls[place], 'crates/keel/', async page => {
      await described(page, /^\d+ downloads in total, \d+ in the last 90 days$/)
      await checkView(page, `${place}-downloads`)
    }))

  test(`${place}: the downloads of the registry`, () =>
    visit(browser, urls[place], 'statistics/', async page => {
      await described(page, /^\d+ downloads in total/)
      await checkPage(page)
      await picture(page, `${place}-statistics-downloads`)
    }))

  test(`${place}: a crate with a hostile README, and a crate without downloads`, async () => {
    await visit(browser, urls[place], 'crates/hostile/', async page => {
      await described(page, /^1 downloads in total/)
    })
    await visit(browser, urls[place], 'crates/long-readme/', async page => {
      assert.equal(await page.locator('.downloads').count(), 0)
    })
  })

  test(`${place}: without JavaScript the drawing says the numbers, and links to them`, () =>
    visit(
      browser,
      urls[place],
      'crates/keel/',
      async page => {
        assert.equal(await page.locator('.downloads img').count(), 1)
        const link = page.locator('.downloads a')
        const numbers = await page.request.get(
          new URL((await link.getAttribute('href')) ?? '', page.url()).href,
        )
        const { total, days } = await numbers.json()
        assert.equal(days.length, 90)
        const drawing = await page.request.get(`${urls[place]}/crates/keel/downloads.svg`)
        assert.match(await drawing.text(), new RegExp(`>${total.toLocaleString('en-US')}<`))
      },
      { javaScriptEnabled: false },
    ))
}
