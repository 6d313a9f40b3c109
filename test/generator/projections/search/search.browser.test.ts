import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { LIST, run } from '../../../../generator/database/statement.ts'
import { buildPages } from '../../../../generator/pages/pages.ts'
import { launchChromium } from '../../../support/chromium.ts'
import { fillCatalog } from '../../../support/filled-catalog.ts'
import { inventedEntries } from '../../../support/many-crates.ts'
import { TestRegistry } from '../../../support/registry.ts'
import { type FileServer, serveFiles } from '../../../support/static-server.ts'
import { until } from '../../../support/until.ts'

/** The names that the API finds. */
async function found(registry: TestRegistry, query: string, limit: number): Promise<string[]> {
  const response = await registry.request(
    'GET',
    `/api/v1/crates?q=${encodeURIComponent(query)}&per_page=${limit}`,
  )
  return ((await response.json()) as { crates: { name: string }[] }).crates.map(crate => crate.name)
}

/** Types a query and waits until the page suggests just these crates. */
async function suggests(page: Page, query: string, crates: readonly string[]): Promise<void> {
  await page.locator('input[name=q]').fill(query)
  const options = page.locator('[role=option] strong')
  let shown: string[] = []
  const isRight = async () => {
    shown = await options.allTextContents()
    return isDeepStrictEqual(shown, crates)
  }
  await until(isRight, () => `“${query}” suggests ${shown.join(' ')}, not ${crates.join(' ')}`)
}

test('a copy of the tree of a registry with a daemon is searched without it, with the same results', async t => {
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_PAGES_SOURCE: 'false' } })
  await buildPages(registry.registry)
  await fillCatalog(registry.registry, inventedEntries(250))
  const { database } = registry.registry
  await run(database, `DELETE FROM marks WHERE kind IN ${LIST}`, ['page', 'release'])
  await buildPages(registry.registry)
  const browser = await launchChromium()
  let server: FileServer | null = null
  try {
    server = await serveFiles(registry.registry.tree.root)
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    await page.goto(`${server.url}/`)
    await page.locator('input[name=q]').click()
    await page.locator('input[role=combobox]').waitFor()
    for (const query of ['s', 'ser', 'HTTP', 'rust lib', 'de-se', 'nothing at all']) {
      await suggests(page, query, await found(registry, query, 8))
    }
    await page.locator('input[name=q]').fill('s')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/search/?q=s')
    await page.locator('.card').first().waitFor()
    const all = await found(registry, 's', 100)
    assert.ok(all.length > 20, `${all.length}`)
    assert.deepEqual(await page.locator('.card strong').allTextContents(), all.slice(0, 20))
    const status = page.locator('[data-status]')
    assert.equal(await status.textContent(), `${all.length} crates for “s”`)
    assert.match((await page.locator('.pager').textContent()) ?? '', /^Page 1 of \d+Next →$/)
    await page.getByText('Next →').click()
    await page.waitForURL('**/search/?q=s&page=2')
    await page.locator('.card').first().waitFor()
    assert.deepEqual(await page.locator('.card strong').allTextContents(), all.slice(20))
    assert.deepEqual(complaints, [])
    assert.deepEqual(
      server.requests.filter(path => path.includes('api')),
      [],
    )
  } finally {
    await browser.close()
    await server?.close()
  }
})
