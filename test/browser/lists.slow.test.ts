// Mirrors site/pages/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildCrate } from '../support/crate-builder.ts'
import type { HarbourRelease } from '../support/harbour.ts'
import { checkPage, linksOf } from './browsing.ts'
import { releasePlaces, testViews } from './places.ts'

const CRATES = 110
const ENV = {
  PLIMSOLL_GIT_INDEX: 'off',
  PLIMSOLL_OWNERS_PUBLIC: 'true',
  PLIMSOLL_PAGES_SOURCE: 'false',
}
/** `rope`, on which most others depend, and more crates than a page of the list has. */
function releases(index: string): HarbourRelease[] {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const names = Array.from({ length: CRATES - 1 }, (_, at) => `${letters[at % 26]}-knot-${at}`)
  return ['rope', ...names].map((name, at) => {
    const manifest = `[package]\nname = "${name}"\nversion = "1.${at}.0"\nedition = "2021"
description = "Ties things, in a way of its own, number ${at}."\nlicense = "MIT"
keywords = ["knots", "${at % 2 === 0 ? 'C++' : 'no free <path>'}"]
categories = ["science${at % 3 === 0 ? '::robotics' : ''}", "no-std"]
${at > 0 && at < 80 ? `[dependencies.rope]\nversion = "*"\nregistry-index = "${index}"` : ''}`
    const at_ = new Date(Date.UTC(2025, 11, 1 + at * 3)).toISOString().replace('.000', '')
    const bytes = buildCrate({ name, version: `1.${at}.0`, manifest })
    return { name, version: `1.${at}.0`, bytes, at: at_, by: at % 5 === 0 ? 'grace' : 'ada' }
  })
}

const { still, live, look } = releasePlaces(releases, { env: ENV })

const everywhere = [
  'keywords/',
  'keywords/knots/',
  'categories/',
  'categories/science/',
  'statistics/',
  'crates/',
  'lists/dependents.html',
  'api/',
]
const views = (paths: string[]) => paths.map((path): [string, string] => [path.slice(0, -1), path])
testViews(look, still, views(everywhere))
// The daemon serves the same files, and these as well.
testViews(look, live, views(['users/ada/', 'lists/newest.html']))

for (const place of [still, live]) {
  test(`${place.what}: without JavaScript, the list of all crates has orders, letters and pages`, async () => {
    const work = async (page: Page) => {
      assert.equal(await page.locator('.card').count(), 100)
      await page.getByRole('navigation', { name: 'First letter' }).getByText('z').click()
      await page.waitForURL('**/lists/name-2.html#letter-z')
      assert.equal(await page.locator('.card').count(), CRATES - 100)
      await page.getByRole('link', { name: '← Previous' }).click()
      await page.waitForURL('**/crates/')
      await page.getByRole('link', { name: 'Most depended on' }).click()
      assert.match(await page.locator('.card').first().innerText(), /^rope\s.*79 dependents/s)
      assert.match(await page.locator('.orders [aria-current]').innerText(), /Most depended on/)
      const orders = await page.locator('.orders a').allInnerTexts()
      const dated = place.isLive ? ['Recently updated', 'Newest'] : []
      assert.deepEqual(orders, ['Name', 'Most depended on', ...dated])
      if (!place.isLive) return
      await page.getByRole('link', { name: 'Newest' }).click()
      assert.match(await page.locator('.card').first().innerText(), /^e-knot-108/)
    }
    await look(place, 'crates/', work, { javaScriptEnabled: false })
  })

  test(`${place.what}: from the front page to crates by keyword and category`, async () => {
    await look(place, '', async page => {
      const popular = await page.locator('.popular li').allInnerTexts()
      assert.deepEqual(popular, ['knots 110', 'c++ 55'])
      await page.getByRole('link', { name: 'c++' }).click()
      await page.waitForURL('**/keywords/c++/')
      assert.equal(await page.locator('.card').count(), 55)
      assert.match(await page.locator('.card').first().innerText(), /^rope/)
      await page.goto(`${place.url}/categories/`)
      assert.match(await page.locator('.categories').first().innerText(), /No standard library 110/)
      await page.getByRole('link', { name: 'Robotics' }).click()
      await page.waitForURL('**/categories/science/robotics/')
      assert.equal(await page.locator('.card').count(), 37)
      await page.getByRole('link', { name: 'Science' }).click()
      assert.match(await page.locator('.lead').innerText(), /^The 100 .* of 110 crates/)
    })
  })

  test(`${place.what}: the statistics count, rank and, with times, plot`, async () => {
    await look(place, 'statistics/', async page => {
      const figures = (await page.locator('.status dd').allInnerTexts()).slice(0, 2)
      assert.deepEqual(figures, ['110', '110'])
      assert.match(await page.locator('.ranks').first().innerText(), /^rope 79 dependents/)
      const plots = page.locator('.plot')
      assert.equal(await plots.count(), place.isLive ? 2 : 0)
      if (!place.isLive) return
      const [releases = '', total = ''] = await plots
        .locator('svg')
        .evaluateAll(all => all.map(label => label.getAttribute('aria-label') ?? ''))
      assert.match(releases, /^Releases per week: 110$/)
      assert.match(total, /^Crates: 110$/)
      await plots.first().locator('summary').click()
      assert.equal(await plots.first().locator('tbody tr').count(), 53)
      await checkPage(page)
    })
  })

  test(`${place.what}: every address that the API page names is there`, async () => {
    await look(place, 'api/', async page => {
      const links = await linksOf(page, 'main .rows a')
      assert.ok(links.length >= 9, links.join(' '))
      for (const href of links) assert.equal((await fetch(href)).status, 200, href)
      const commands = await page.locator('.copy-block code').allInnerTexts()
      const calls = commands.flatMap(command => /^curl '([^']+)'$/.exec(command)?.[1] ?? [])
      assert.equal(calls.length, place.isLive ? 4 : 0)
      for (const call of calls) {
        const url = `${place.url}${new URL(call).pathname}${new URL(call).search}`
        assert.equal((await fetch(url)).status, 200, url)
      }
    })
  })

  test(`${place.what}: a crate has a badge to copy; the site has an icon`, async () => {
    await look(place, 'crates/rope/', async page => {
      await page.locator('summary', { hasText: 'Badge' }).click()
      const markdown = page.getByText(/^\[!\[rope\]/)
      assert.match(
        await markdown.innerText(),
        /\/crates\/rope\/badge\.svg\)\]\(.*\/crates\/rope\/\)$/,
      )
    })
    const badge = await fetch(`${place.url}/crates/rope/badge.svg`)
    assert.match(badge.headers.get('content-type') ?? '', /^image\/svg\+xml/)
    assert.match(await badge.text(), /<title>rope: v1\.0\.0<\/title>/)
    await look(place, 'crates/rope/badge.svg', async page => {
      const box = await page.evaluate(() => {
        const texts = [...document.querySelectorAll('text')].map(text => text.getBBox())
        return Math.max(...texts.map(box => box.x + box.width))
      })
      assert.ok(box < 106, `the text ends at ${box}`)
    })
    const icon = Buffer.from(await (await fetch(`${place.url}/favicon.ico`)).arrayBuffer())
    assert.equal(icon.readUInt16LE(2), 1)
  })
}

test('daemon: the page of a user has the crates they own', async () => {
  await look(live, 'users/ada/', async page => {
    assert.equal(await page.locator('h1').innerText(), 'ada')
    assert.match(await page.locator('.lead').innerText(), /^The newest 100 of the crates/)
  })
})
