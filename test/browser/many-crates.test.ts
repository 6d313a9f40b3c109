import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { launchChromium } from '../support/chromium.ts'
import { fleet } from '../support/demo-facts.ts'
import { demoFacts, demoSite, writeSite } from '../support/demo-site.ts'
import { inventedEntries } from '../support/many-crates.ts'
import { serveFiles } from '../support/static-server.ts'

test('among 200,000 crates the search answers while one types, and loads little', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-many-'))
  const server = await serveFiles(folder)
  const browser = await launchChromium()
  try {
    writeSite(folder, demoSite(demoFacts(server.url), fleet, inventedEntries(200_000)))
    const page = await browser.newPage()
    await page.goto(`${server.url}/`)
    server.requests.length = 0
    await page.locator('input[name=q]').click()
    await page.keyboard.type('serde', { delay: 50 })
    await page.locator('[role=option]', { hasText: 'serde' }).first().waitFor()
    const shards = server.requests.filter(path => path.startsWith('/search/'))
    assert.ok(shards.length > 1 && shards.length < 80, `${shards.length} shards`)
    assert.equal(new Set(shards).size, shards.length, 'a shard was loaded twice')
    const bytes = shards.reduce((sum, path) => sum + readFileSync(join(folder, path)).length, 0)
    assert.ok(bytes < 700_000, `${bytes} bytes`)
  } finally {
    await browser.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
