import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { harbour, OTHER_CRATES } from '../support/harbour.ts'
import { checkOverlays, checkPage, linksOf, PHONE, picture, visit } from './browsing.ts'
import { releasePlaces, testViews } from './places.ts'

const LOOK = {
  PLIMSOLL_REGISTRY_NAME: 'harbour',
  PLIMSOLL_REGISTRY_TITLE: 'Harbour Crates',
  PLIMSOLL_REGISTRY_DESCRIPTION: 'The Rust crates of the Harbour teams.',
  PLIMSOLL_OWNERS_PUBLIC: 'true',
  PLIMSOLL_PAGES_REGISTRIES: OTHER_CRATES,
}

const { still, live, look, browser } = releasePlaces(harbour, { env: LOOK })

const views: [what: string, path: string][] = [
  ['front', ''],
  ['crate', 'crates/keel/'],
  ['versions', 'crates/keel/#versions'],
  ['dependencies', 'crates/keel/#dependencies'],
  ['features', 'crates/keel/#features'],
  ['changes', 'crates/keel/#changes'],
  ['dependents', 'crates/keel/#dependents'],
  ['version', 'crates/keel/1.4.0/'],
  ['yanked version', 'crates/keel/1.3.1/'],
  ['source file', 'crates/keel/1.4.0/src/#src/lib.rs:L3-L4'],
  ['list', 'crates/'],
  ['search', 'search/?q=billing'],
  ['not found', '404.html'],
  ['hostile', 'crates/hostile/'],
  ['hostile dependencies', 'crates/hostile/#dependencies'],
  ['hostile source', 'crates/hostile/1.0.0/src/'],
]
/**
 * The views are the same everywhere; the daemon is visited only for pages that it makes itself, or
 * that show more there.
 */
const OF_THE_DAEMON = new Set(['front', 'crate', 'versions', 'list', 'search', 'not found'])
testViews(look, still, views)
testViews(
  look,
  live,
  views.filter(([what]) => OF_THE_DAEMON.has(what)),
)

for (const place of [still, live]) {
  test(`${place.what}: from the front page to an older version of a crate`, async () => {
    await look(place, '', async page => {
      assert.equal(await page.locator('h1').textContent(), 'Harbour Crates')
      assert.match((await page.locator('.counts').textContent()) ?? '', /^13 crates, 21 versions/)
      await page.getByRole('link', { name: 'All crates' }).click()
      await page.waitForURL('**/crates/')
      await page.locator('a.card', { hasText: 'keel' }).waitFor()
      await page.locator('.top input[name=q]').fill('KEEL')
      await page.locator('.top input[role=combobox]').waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/crates/keel/')
      await page.locator('.tabs a', { hasText: 'Versions' }).click()
      await page.locator('#version-rows').getByRole('link', { name: '1.3.2', exact: true }).click()
      await page.waitForURL('**/crates/keel/1.3.2/')
      assert.equal(await page.locator('h1').textContent(), 'keel 1.3.2')
      const banner = page.locator('.notice.newest')
      assert.match(
        await banner.innerText(),
        /^This is version 1\.3\.2\. The newest .* is 1\.4\.0\.$/,
      )
      await page.goto(`${place.url}/crates/keel/1.2.0-rc.1/`)
      await banner.getByText(/The newest stable version of keel is/).waitFor()
      await page.goto(`${place.url}/crates/keel/1.3.1/`)
      await banner.getByText(/The newest version of keel that is not yanked is/).waitFor()
      await page.goBack()
      await page.goBack()
      const tabs = await page.locator('.tabs a').allInnerTexts()
      for (const name of ['Versions', 'Dependents'])
        assert.ok(
          tabs.some(tab => tab.startsWith(name)),
          name,
        )
    })
  })

  test(`${place.what}: without JavaScript every part can be read`, async () => {
    const work = async (page: Page) => {
      assert.equal(await page.locator('#readme').isVisible(), true)
      assert.equal(await page.locator('#versions').isVisible(), false)
      await page.locator('.tabs a', { hasText: 'Versions' }).click()
      assert.equal(await page.locator('#versions').isVisible(), true)
      assert.equal(await page.locator('#readme').isVisible(), false)
      const marked = (tab: string) =>
        page
          .locator('.tabs a', { hasText: tab })
          .evaluate(element => getComputedStyle(element).borderBottomColor !== 'rgba(0, 0, 0, 0)')
      assert.deepEqual([await marked('Readme'), await marked('Versions')], [false, true])
      const tabs = await page.locator('.tabs').boundingBox()
      assert.ok(tabs !== null && tabs.y >= 0, 'the tabs stay in view')
      assert.equal(await page.locator('.copy, .filter:visible').count(), 0)
      await page.goto(`${place.url}/crates/keel/#user-content-errors`)
      assert.equal(await page.locator('#readme').isVisible(), true)
    }
    await look(place, 'crates/keel/', work, { javaScriptEnabled: false })
  })

  test(`${place.what}: / and s go to the search box, and the search answers while one types`, async () => {
    await look(place, 'crates/', async page => {
      for (const key of ['/', 's']) {
        await page.evaluate(() => (document.activeElement as HTMLElement).blur())
        await page.keyboard.press(key)
        await page.locator('[role=combobox]:focus').waitFor()
      }
      await page.keyboard.type('bos')
      await page.locator('[role=option]').first().waitFor()
      assert.match(
        (await page.locator('[role=option]').first().textContent()) ?? '',
        /^bosun 0\.7\.12/,
      )
      await checkPage(page)
      await picture(page, `${place.what}-suggestions`.replaceAll(' ', '-'))
      await page.keyboard.press('ArrowDown')
      assert.equal(await page.locator('[role=option][aria-selected=true]').count(), 1)
      await page.keyboard.press('Enter')
      await page.waitForURL('**/crates/bosun/')
    })
  })

  test(`${place.what}: Escape closes the list, Enter alone goes to the results`, async () => {
    await look(place, '', async page => {
      await page.locator('input[name=q]').click()
      await page.keyboard.type('billing')
      await page.locator('[role=option]').first().waitFor()
      await page.keyboard.press('Escape')
      assert.equal(await page.locator('[role=option]:visible').count(), 0)
      await page.keyboard.press('ArrowDown')
      assert.equal(await page.locator('[role=option][aria-selected=true]:visible').count(), 1)
      await page.keyboard.press('Escape')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/search/?q=billing')
      await page.locator('.card').first().waitFor()
      assert.equal((await page.locator('.card strong').allTextContents()).at(-1), 'ballast')
      assert.equal(await page.locator('input[name=q]').inputValue(), 'billing')
    })
  })

  test(`${place.what}: a query is text, whatever it says`, async () => {
    await look(
      place,
      `search/?q=${encodeURIComponent('<b onclick=__hit=1>none</b>')}`,
      async page => {
        await page.getByText('No crate').first().waitFor()
        assert.equal(await page.evaluate('typeof __hit'), 'undefined')
      },
    )
  })

  test(`${place.what}: a hostile crate runs nothing and leaves the frame of the page alone`, async () => {
    for (const path of [
      'crates/hostile/',
      'crates/hostile/1.0.0/',
      'crates/hostile/1.0.0/src/',
      'crates/',
    ]) {
      await look(place, path, async page => {
        assert.equal(await page.evaluate('typeof __hit'), 'undefined')
        assert.equal(await page.locator('body > main#main').count(), 1)
        for (const href of await linksOf(page, 'main a')) assert.match(href, /^(https?:|mailto:)/)
      })
    }
  })
}

// What no more than the script of a page does, which is the same everywhere.

test('static tree: the versions can be filtered', async () => {
  await look(still, 'crates/keel/#versions', async page => {
    const shown = page.locator('.filter output')
    await page.locator('.filter input').fill('1.3 YANKED')
    await shown.filter({ hasText: '1 of 9' }).waitFor()
    assert.deepEqual(await page.locator('#version-rows tr:visible th a').allTextContents(), [
      '1.3.1',
    ])
    await page.locator('.filter input').fill('01.85')
    assert.equal(await shown.textContent(), 'Nothing matches.', 'no word goes over two columns')
  })
})

test('static tree: a copy button copies where the browser has no clipboard for pages, too', async () => {
  const url = still.url.replace('127.0.0.1', 'harbour.test')
  await visit(browser(), url, 'crates/keel/', async page => {
    assert.equal(await page.evaluate(() => isSecureContext), false)
    await page.locator('.install .copy').first().click()
    assert.equal(await page.locator('.install .copy').first().getAttribute('aria-label'), 'Copied')
    await page.locator('input[name=q]').focus()
    await page.keyboard.press('Control+V')
    assert.equal(
      await page.locator('input[name=q]').inputValue(),
      'cargo add keel --registry harbour',
    )
  })
})

test('static tree: the front page shows how to add the crate that most others need', async () => {
  await look(still, '', async page => {
    assert.equal(
      await page.getByText(/^cargo add /).innerText(),
      'cargo add keel --registry harbour',
    )
  })
})

test('static tree: on a phone one sees which part of the page is shown', async () => {
  const work = async (page: Page) => {
    const box = await page.locator('.tabs [aria-current]').boundingBox()
    assert.ok(
      box !== null && box.x >= 0 && box.x + box.width <= PHONE.viewport.width,
      JSON.stringify(box),
    )
  }
  await look(still, 'crates/keel/#dependents', work, PHONE)
})

test('static tree: a stray % in the address is no error', async () => {
  await look(still, 'crates/keel/#100%', async page => {
    assert.equal(await page.locator('#readme').isVisible(), true)
  })
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`static tree: what is placed over a page hides what is below, ${colorScheme}`, async () => {
    const name = `static-tree-${colorScheme}`
    const work = async (page: Page) => {
      await page.locator('.selector summary').click()
      assert.ok((await checkOverlays(page)).includes('ul.plain'))
      await picture(page, `${name}-selector`)
      await page.locator('.selector summary').click()
      await page.locator('input[name=q]').click()
      await page.keyboard.type('client')
      await page.locator('[role=option]').first().waitFor()
      assert.ok((await checkOverlays(page)).includes('ul.suggestions'))
      await picture(page, `${name}-suggestions`)
      await page.keyboard.press('Escape')
      await page.locator('.skip').focus()
      assert.ok((await checkOverlays(page)).includes('a.skip'))
      await page.mouse.wheel(0, 400)
      await page.waitForFunction(() => scrollY > 100)
      assert.ok((await checkOverlays(page)).includes('nav.tabs'))
      await picture(page, `${name}-scrolled`)
    }
    await look(still, 'crates/keel/', work, { colorScheme })
  })

test('static tree: who types on has chosen nothing, and only the first button follows an answer', async () => {
  await look(still, '', async page => {
    await page.locator('input[name=q]').click()
    await page.keyboard.type('bos')
    await page.locator('[role=option]').first().waitFor()
    await page.locator('[role=option]').first().click({ button: 'right' })
    assert.equal(page.url(), `${still.url}/`)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.insertText('x')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/search/?q=bosx')
  })
})

test('static tree: Enter waits for no search files that do not come', async () => {
  await look(still, '', async page => {
    const isFetch = (asked: Route) => asked.request().resourceType() === 'fetch'
    await page.route('**', asked => (isFetch(asked) ? undefined : asked.continue()))
    await page.locator('input[name=q]').fill('keel')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/search/?q=keel', { waitUntil: 'commit' })
  })
})

test('daemon: dates become relative, but not on paper; pages name people, every page may be framed by nobody', async () => {
  await look(live, 'crates/keel/#versions', async page => {
    const age = page.locator('.about time').first()
    assert.match((await age.textContent()) ?? '', / ago$|just now|^in /)
    const date = page.locator('#versions time').first()
    assert.equal(await date.textContent(), 'Nov 2, 2026')
    for (const time of [age, date])
      assert.equal(await time.getAttribute('title'), '2026-11-02 09:30:00 UTC')
    await age.evaluate(tag =>
      addEventListener('beforeprint', () => {
        document.title = tag.textContent ?? ''
      }),
    )
    await page.pdf()
    assert.equal(await page.title(), '2026-11-02 09:30:00 UTC')
    assert.doesNotMatch((await age.textContent()) ?? '', /UTC/)
    assert.match(
      (await page.locator('.side').innerText()).replace(/\s+/g, ' '),
      /Owners ada grace/i,
    )
    assert.equal(await page.locator('.readme time').textContent(), 'June 2021')
    // "last year" would be wrong: that was 2027.
    await page.clock.setFixedTime('2028-10-30T00:00:00Z')
    await page.reload()
    assert.equal(await age.textContent(), '1 year ago')
  })
  const { headers } = await fetch(`${live.url}/crates/keel/`)
  assert.match(
    headers.get('content-security-policy') ?? '',
    /^default-src 'none';.*frame-ancestors 'none'$/,
  )
})

test('static tree: the page of a crate is small, comes in few requests and is painted at once', async () => {
  const context = await browser().newContext()
  const page = await context.newPage()
  const sizes: number[] = []
  page.on('response', async response => sizes.push((await response.body()).length))
  await page.goto(`${still.url}/crates/keel/`, { waitUntil: 'networkidle' })
  const painted = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  )
  await context.close()
  assert.ok(sizes.length <= 8, `${sizes.length} requests`)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(bytes < 80_000, `${bytes} bytes, before compression`)
  // Some 100 ms on a quiet machine; in a test run others are at work, too.
  assert.ok(painted !== undefined && painted < 2000, `painted after ${painted} ms`)
})

test('static tree: without JavaScript the search page leads to the list', async () => {
  const work = async (page: Page) => {
    assert.match(
      (await page.locator('main').textContent()) ?? '',
      /needs JavaScript.*list of all crates/s,
    )
  }
  await look(still, 'search/?q=x', work, { javaScriptEnabled: false })
})
