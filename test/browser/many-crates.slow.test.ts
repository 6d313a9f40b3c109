// Mirrors site/pages/all-crates.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIST, run } from '../../generator/database/statement.ts'
import { fillRecords } from '../support/filled-records.ts'
import { inventedEntries } from '../support/many-crates.ts'
import { checkPage, checkSize, picture } from './browsing.ts'
import { openPlaces } from './places.ts'

const { still, look } = openPlaces({
  /** Records of crates, and all pages but those of the crates, which have no bytes. */
  async live(registry) {
    await fillRecords(registry, inventedEntries(4000))
    const kinds = ['page', 'release', 'file', 'index'] as const
    await run(registry.database, `DELETE FROM marks WHERE kind IN ${LIST}`, kinds)
  },
  env: { PLIMSOLL_GIT_INDEX: 'off' },
  lost: 'whole',
})

test('among 4,000 crates the list leads to each, and no page on the way is large', async () => {
  await look(still, 'crates/', async page => {
    await picture(page, 'many-list')
    for (let depth = 0; ; depth++) {
      assert.ok(depth < 12, page.url())
      const bytes = (await (await fetch(page.url())).arrayBuffer()).byteLength
      assert.ok(bytes < 150_000, `${page.url()} has ${bytes} bytes`)
      await (depth === 0 ? checkPage(page) : checkSize(page))
      const part = page.locator('main .tags a').last()
      if ((await part.count()) === 0) break
      await part.click()
    }
    await checkPage(page)
    await picture(page, 'many-part')
    const dependents = await (await fetch(`${still.url}/lists/dependents.html`)).text()
    assert.match(dependents, /The 1,000 of 4,000 crates with/)
    assert.ok((await page.locator('a.card').count()) > 0)
  })
})

test('results come page by page, without a daemon', async () => {
  await look(still, 'search/?q=s', async page => {
    const names = page.locator('.card strong')
    await names.first().waitFor()
    const first = await names.allTextContents()
    await page.getByText('Next →').click()
    await page.waitForURL('**/search/?q=s&page=2')
    await names.first().waitFor()
    const second = await names.allTextContents()
    assert.deepEqual([first.length, second.length], [20, 20])
    assert.equal(new Set([...first, ...second]).size, 40)
  })
})
