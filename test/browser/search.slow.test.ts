// Mirrors site/browser/results.ts and site/browser/missing.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { buildCrate } from '../support/crate-builder.ts'
import { type HarbourRelease, OTHER_CRATES } from '../support/harbour.ts'
import { knownCrates } from '../support/known-crates.ts'
import { checkLayout, checkPage, checkSize, picture } from './browsing.ts'
import { type Place, releasePlaces } from './places.ts'

const LOOK = {
  PLIMSOLL_PAGES_REGISTRIES: OTHER_CRATES,
  PLIMSOLL_PAGES_SOURCE: 'false',
  PLIMSOLL_OWNERS_PUBLIC: 'true',
}

/** The known crates with their labels and dependencies, which come first. */
function releases(index: string): HarbourRelease[] {
  const crates = knownCrates.toSorted((a, b) => a.needs.length - b.needs.length)
  return crates.map(({ name, newest: version, about, rust, needs }) => {
    const { description, license, ...labels } = about
    const fields = { name, version, edition: '2021', description, license, ...labels }
    const lines = Object.entries(fields).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    if (rust) lines.push(`rust-version = "${rust}"`)
    for (const need of needs)
      lines.push(`[dependencies.${need}]`, 'version = "1"', `registry-index = "${index}"`)
    const manifest = `[package]\n${lines.join('\n')}`
    const bytes = buildCrate({ name, version, manifest })
    return { name, version, bytes, at: '2026-11-20T12:00:00Z', by: 'ada' }
  })
}

const places = releasePlaces(releases, { env: LOOK })
const { still, live } = places

/** Opens a page of results or a missing page, and waits for its contents. */
function look(
  place: Place,
  path: string,
  work: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const offer = `.card, main a[href*="${path.split('/', 2).join('/')}/"]`
  const shown = path.startsWith('search/') ? '.lead:not(:empty)' : offer
  const wait = async (page: Page) => {
    await page.locator(shown).first().waitFor()
    await work(page)
  }
  const viewport = { width: 1440, height: 900 }
  return places.look(place, path, wait, { viewport, ...options })
}

const names = (page: Page) => page.locator('.card strong').allTextContents()

for (const place of [still, live]) {
  const searches: [query: string, found: string[], note: string | null][] = [
    ['q=tokyo', ['tokio', 'tokio-util'], 'No crate matches “tokyo”. Showing results for “tokio”.'],
    [
      'q=rayon+nom',
      ['nom', 'rayon'],
      'No crate matches both words. Showing results for one of them.',
    ],
    ['q=parser&license=GPL-3.0-only', ['rapid'], null],
    ['keyword=json', ['serde_json', 'simd-json'], null],
  ]
  for (const [query, shown, note] of searches) {
    test(`${place.what}: the page of ?${query}`, async () => {
      await look(place, `search/?${query}`, async page => {
        assert.deepEqual(await names(page), shown)
        const notes = await page.locator('.note').allTextContents()
        assert.deepEqual(notes, note === null ? [] : [note])
        const lead = (await page.locator('.lead').textContent()) ?? ''
        assert.match(lead, new RegExp(`^${shown.length} crates?\\b`))
        assert.equal(lead.includes('for “'), query.startsWith('q=') && note === null, lead)
        assert.equal(lead.includes('with keyword “json”'), query.startsWith('keyword='), lead)
        await checkLayout(page)
      })
    })
  }

  test(`${place.what}: filters and orders are chosen on the page, and stay for other words`, async () => {
    await look(place, 'search/?q=parser', async page => {
      await page.getByText('Filter and sort').click()
      await page.getByLabel('License').fill('MIT')
      await page.getByLabel('Sort by').selectOption('Name')
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.waitForURL('**/search/?q=parser&sort=name&license=MIT')
      await page.locator('.card').first().waitFor()
      assert.deepEqual(await names(page), ['clap', 'nom', 'pest', 'simd-json'])
      assert.equal(await page.getByLabel('License').inputValue(), 'MIT')
      await page.getByRole('link', { name: 'Clear' }).click()
      await page.waitForURL('**/search/?q=parser')
    })
  })

  test(`${place.what}: nothing found is not an end`, async () => {
    await look(place, 'search/?q=zzzz-zzzz', async page => {
      assert.equal(await page.locator('.lead').textContent(), 'No crates for “zzzz-zzzz”')
      const link = page.getByText('Look for zzzz-zzzz on Other Crates')
      const href = await link.getAttribute('href')
      assert.equal(href, 'https://crates.other.example/crates/zzzz-zzzz/')
      await page.locator('main').getByRole('link', { name: 'All crates' }).waitFor()
      await checkPage(page)
    })
  })

  test(`${place.what}: a missing page offers the crate that is meant, and a search`, async () => {
    await look(place, 'crates/tokio/9.9.9/', async page => {
      const link = page.locator('main a', { hasText: 'tokio' }).first()
      assert.match((await link.getAttribute('href')) ?? '', /\/crates\/tokio\/$/)
      await page.locator('main form[role=search]').waitFor()
      await checkLayout(page)
    })
    await look(place, 'crates/tokyo/', async page => {
      assert.equal(await page.locator('h1').textContent(), 'Nothing here')
      assert.equal((await names(page))[0], 'tokio')
      await page.locator('main input[name=q]').fill('rege')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/search/?q=rege')
    })
  })
}

test('static tree: another spelling of a name leads to the crate', async () => {
  for (const [path, name] of [
    ['crates/serde-json/', 'serde_json'],
    ['crates/Serde/', 'serde'],
    ['crates/serde_yaml/1.0.0/', 'Serde-Yaml'],
  ]) {
    await look(still, path ?? '', async page => {
      assert.deepEqual(await names(page), [name])
      const href = await page.locator('a.card').getAttribute('href')
      assert.equal(new URL(href ?? '', page.url()).pathname, `/sub/path/crates/${name}/`)
    })
  }
})

test('daemon: a crate is found by its owner, and the results need no script', async () => {
  await look(
    live,
    'search/?q=tokyo',
    async page => {
      assert.deepEqual(await names(page), ['tokio', 'tokio-util'])
      await page.getByText('Filter and sort').click()
      await page.getByLabel('Owner').fill('nobody')
      await page.getByRole('button', { name: 'Apply' }).click()
      assert.equal(
        await page.locator('.lead').textContent(),
        'No crates for “tokyo” with owner “nobody”',
      )
    },
    { javaScriptEnabled: false },
  )
})

const views: [what: string, path: string][] = [
  ['results', 'search/?q=parser+jsn&sort=dependents&license=MIT'],
  ['nothing', 'search/?q=zzzz-zzzz'],
  ['missing', 'crates/serde/9.9.9/'],
]
for (const place of [still, live]) {
  for (const [what, path] of views) {
    test(`${place.what}, ${what}: nothing is wrong to see, at every width and by night`, async () => {
      await look(place, path, async page => {
        for (const width of [1440, 768, 360]) {
          await page.setViewportSize({ width, height: 800 })
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme })
            // The layout has nothing to do with colors, and axe sees no more at a width between.
            const isChecked = (width === 1440) === (colorScheme === 'light') && width !== 768
            await (isChecked ? checkPage(page) : checkSize(page))
            await picture(page, `search-${place.what}-${what}-${width}-${colorScheme}`)
          }
        }
      })
    })
  }
}
