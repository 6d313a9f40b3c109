// Mirrors site/elements/downloads.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { dayOf } from '../../core/day-counts.ts'
import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { addDownloads, markAllDueDownloads } from '../../generator/records/downloads/count.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { fillRegistry, harbour } from '../support/harbour.ts'
import { checkPage, checkView, picture } from './browsing.ts'
import { openPlaces } from './places.ts'

const { still, live, look } = openPlaces({
  async live(registry) {
    await fillRegistry(registry, harbour('sparse+http://127.0.0.1/index/'))
    const add = (name: string, version: string, amount: (day: number) => number) =>
      count(registry, name, version, amount)
    await add('keel', '1.4.0', day => 20 + ((day * 7919) % 13) + (day % 7 < 5 ? 40 : 0))
    await add('keel', '1.3.1', day => 90 - day)
    await add('hostile', '1.0.0', day => (day === 40 ? 1 : 0))
  },
  env: { PLIMSOLL_GIT_INDEX: 'off' },
})

/** Adds downloads on the last 90 days; `amount` is how many, by the number of the day. */
async function count(
  registry: Registry,
  name: string,
  version: string,
  amount: (day: number) => number,
): Promise<void> {
  const now = new Date()
  const release = { name: parseName(name), version: parseVersion(version) }
  const counts = Array.from({ length: 90 }, (_, at) => {
    return { release, day: dayOf(now) - 89 + at, n: amount(at) }
  })
  const missing = await registry.database.transaction(tx => addDownloads(tx, counts, now))
  assert.deepEqual(missing, [])
  await markAllDueDownloads(registry.database, now)
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

for (const place of [still, live]) {
  test(`${place.what}: the downloads of a crate`, () =>
    look(place, 'crates/keel/', async page => {
      await described(page, /^Downloads: \d+ in total, \d+ in the last 90 days$/)
      await checkView(page, `${place.what}-downloads`)
    }))

  test(`${place.what}: the downloads of the registry`, () =>
    look(place, 'statistics/', async page => {
      await described(page, /^Downloads: \d+ in total/)
      await checkPage(page)
      await picture(page, `${place.what}-statistics-downloads`)
    }))

  test(`${place.what}: a crate with a hostile README, and a crate without downloads`, async () => {
    await look(place, 'crates/hostile/', page => described(page, /^Downloads: 1 in total/))
    await look(place, 'crates/long-readme/', async page => {
      assert.equal(await page.locator('.downloads').count(), 0)
    })
  })

  test(`${place.what}: without JavaScript the drawing says the numbers, and links to them`, async () => {
    const work = async (page: Page) => {
      assert.equal(await page.locator('.downloads img').count(), 1)
      const link = page.locator('.downloads a')
      const numbers = await page.request.get(
        new URL((await link.getAttribute('href')) ?? '', page.url()).href,
      )
      const { total, days } = await numbers.json()
      assert.equal(days.length, 90)
      const drawing = await page.request.get(`${place.url}/crates/keel/downloads.svg`)
      assert.match(await drawing.text(), new RegExp(`>${total.toLocaleString('en-US')}<`))
    }
    await look(place, 'crates/keel/', work, { javaScriptEnabled: false })
  })
}
