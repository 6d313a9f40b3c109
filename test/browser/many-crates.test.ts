import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { fleet } from '../support/demo-facts.ts'
import { demoFacts, demoSite } from '../support/demo-site.ts'
import { inventedEntries } from '../support/many-crates.ts'
import { serveFiles } from '../support/static-server.ts'
import { checkPage, checkSize, picture, visit } from './browsing.ts'

type Files = ReadonlyMap<string, Uint8Array>

/** The bytes of a file by the path of its URL; the file has to be there. */
const sizeOf = (files: Files, path: string): number =>
  files.get(path.slice(1))?.length ?? assert.fail(path)

test('among 40,000 crates the list leads to each, and the search answers while one types and loads little', async () => {
  const files = new Map<string, Uint8Array>()
  const server = await serveFiles(files)
  const browser = await launchChromium()
  try {
    const cards = inventedEntries(40_000).map(entry => ({ ...entry, updatedAt: null }))
    for (const { path, bytes } of demoSite(demoFacts(server.url), fleet, cards))
      files.set(path, bytes)
    await visit(browser, server.url, 'crates/', page => browse(page, files))
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.goto(`${server.url}/`)
    assert.match((await page.locator('.counts').textContent()) ?? '', /^40\D000 crates/)
    server.requests.length = 0
    await page.locator('input[name=q]').click()
    await page.keyboard.type('serde', { delay: 50 })
    await page.locator('[role=option]', { hasText: 'serde' }).first().waitFor()
    await picture(page, 'many-suggestions')
    const shards = server.requests.filter(path => path.startsWith('/search/'))
    assert.ok(shards.length > 1 && shards.length < 80, `${shards.length} shards`)
    assert.equal(new Set(shards).size, shards.length, 'a shard was loaded twice')
    const bytes = shards.reduce((sum, path) => sum + sizeOf(files, path), 0)
    assert.ok(bytes < 700_000, `${bytes} bytes`)
  } finally {
    await browser.close()
    await server.close()
  }
})

/** From the list of all to one crate, by its first letters; no page on the way is large. */
async function browse(page: Page, files: Files): Promise<void> {
  await picture(page, 'many-list')
  for (let depth = 0; ; depth++) {
    assert.ok(depth < 12, page.url())
    const bytes = sizeOf(files, new URL(page.url()).pathname.replace(/\/$/, '/index.html'))
    assert.ok(bytes < 150_000, `${page.url()} has ${bytes} bytes`)
    await (depth === 0 ? checkPage(page) : checkSize(page))
    const part = page.locator('.letters a').last()
    if ((await part.count()) === 0) break
    await part.click()
  }
  await checkPage(page)
  await picture(page, 'many-part')
  assert.ok((await page.locator('a.card').count()) > 0)
}
