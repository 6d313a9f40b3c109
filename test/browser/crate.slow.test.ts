// Mirrors site/crate/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildCrate } from '../support/crate-builder.ts'
import type { HarbourRelease } from '../support/harbour.ts'
import { checkLayout, checkPage, checkSize, linksOf, PHONE, picture } from './browsing.ts'
import { releasePlaces } from './places.ts'

const VERSIONS = 105
const SMALL = { viewport: { width: 360, height: 700 } }
const WITHOUT_SCRIPT = { javaScriptEnabled: false }
const ENV = { PLIMSOLL_GIT_INDEX: 'off', PLIMSOLL_OWNERS_PUBLIC: 'true' }
/**
 * `rope` with very many versions, `winch`, which takes it from crates.io, and `mast`, which takes it
 * and the yanked `knot` from here.
 */
function releases(index: string): HarbourRelease[] {
  const about =
    'license = "MIT OR Apache-2.0"\nkeywords = ["knots"]\ncategories = ["encoding"]\nrust-version = "1.85"\n'
  const files = {
    'src/lib.rs': `//! Rope.\n\n${'pub fn tie() {}\n'.repeat(1234)}`,
    'README.md': `# rope\n\n${'It holds. '.repeat(2000)}\n`,
    'LICENSE-APACHE': 'Apache',
    'LICENSE-MIT': 'MIT',
  }
  const rope = Array.from({ length: VERSIONS }, (_, at) => {
    const version = `0.${at}.0`
    const isNewest = at === VERSIONS - 1
    const manifest = `[package]\nname = "rope"\nversion = "${version}"\nedition = "2021"\ndescription = "Ties things."\n${about}`
    // Pages of many files for each version would take most of the time of these tests.
    const bytes = buildCrate({ name: 'rope', version, manifest, files: isNewest ? files : {} })
    const at_ = new Date(Date.UTC(2026, 0, 1 + at)).toISOString().replace('.000', '')
    return { name: 'rope', version, bytes, at: at_, by: 'ada', yanked: at === 3 }
  })
  const manifest = '[dependencies]\nrope = "0.9"\nserde = "1"\n'
  const own = (name: string, req: string) =>
    `[dependencies.${name}]\nversion = "${req}"\nregistry-index = "${index}"\n`
  const others = [
    { name: 'knot', manifest: '', yanked: true },
    { name: 'winch', manifest, yanked: false },
    {
      name: 'mast',
      manifest: `${own('rope', '0.9')}${own('knot', '1')}${own('winch', '2')}`,
      yanked: false,
    },
  ]
  return [
    ...rope,
    ...others.map(({ name, manifest, yanked }) => {
      const bytes = buildCrate({ name, version: '1.0.0', manifest })
      return { name, version: '1.0.0', bytes, at: '2026-06-01T00:00:00Z', by: 'ada', yanked }
    }),
  ]
}

const { still, live, look } = releasePlaces(releases, { env: ENV })

/** The top of an element in the window. */
async function top(page: Page, selector: string): Promise<number> {
  return (await page.locator(selector).first().boundingBox())?.y ?? Number.NaN
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

for (const place of [still, live]) {
  const shot = (what: string) => `${place.what}-crate-${what}`.replaceAll(' ', '-')

  test(`${place.what}: size, code and license texts, which the source browser has`, async () => {
    await look(place, 'crates/rope/', async page => {
      assert.match(await page.locator('.side').innerText(), /5 files, [\d.]+ KiB unpacked/)
      assert.match(await page.locator('.side').innerText(), /1,234 lines of Rust/)
      await picture(page, shot('facts'), { fullPage: true })
      await page.locator('.about').getByRole('link', { name: 'Apache-2.0' }).click()
      await page.waitForURL(`**/crates/rope/0.${VERSIONS - 1}.0/src/#LICENSE-APACHE`)
      await page.locator('.code', { hasText: 'Apache' }).waitFor()
    })
  })

  test(`${place.what}: a phone shows version, license and MSRV above the README`, async () => {
    const work = async (page: Page) => {
      const about = await page.locator('.about').innerText()
      assert.match(about.replace(/\s+/g, ' '), /Version 0\.104\.0 .*Rust 1\.85 or newer .*License/)
      assert.ok((await top(page, '.about')) < (await top(page, '#readme')))
      const cut = await page
        .locator('.install pre')
        .evaluateAll(all => all.map(element => element.scrollWidth - element.clientWidth))
      assert.deepEqual(new Set(cut), new Set([0]), 'no command is cut')
      assert.ok((await top(page, '.links')) < (await top(page, '#readme')))
    }
    await look(place, 'crates/rope/', work, SMALL)
  })

  for (const [way, options] of [
    ['', {}],
    [' without JavaScript', WITHOUT_SCRIPT],
  ] as const) {
    test(`${place.what}: the tabs stay in view when one is chosen${way}`, async () => {
      const work = async (page: Page) => {
        const before = await top(page, '.tabs')
        await page.locator('.tabs a', { hasText: 'Versions' }).click()
        assert.equal(await top(page, '.tabs'), before, 'the page stays where it is')
        await page.locator('.tabs a', { hasText: 'Readme' }).click()
        await page.evaluate(() => scrollTo(0, 2000))
        assert.ok((await top(page, '.tabs')) >= 0, 'the tabs stick')
        const hidden = (tabs: Element) => tabs.scrollHeight - tabs.clientHeight
        assert.equal(await page.locator('.tabs').evaluate(hidden), 0, 'the tabs need no scroll bar')
        await page.locator('.tabs a', { hasText: 'Versions' }).click()
        assert.ok((await top(page, '#versions h2')) > (await top(page, '.tabs')))
      }
      await look(place, 'crates/rope/', work, options)
    })
  }

  test(`${place.what}: on a phone a chosen tab begins below the tabs`, async () => {
    const work = async (page: Page) => {
      await page.locator('.tabs a', { hasText: 'Versions' }).click()
      const [tabs, heading] = [await top(page, '.tabs'), await top(page, '#versions h2')]
      assert.ok(tabs >= 0 && heading > tabs && heading < 200, `${tabs} ${heading}`)
    }
    await look(place, 'crates/rope/', work, PHONE)
  })

  test(`${place.what}: the selector leads to other versions`, async () => {
    await look(place, 'crates/rope/', async page => {
      await page.locator('.selector summary').click()
      await checkPage(page)
      await picture(page, shot('selector'))
      assert.equal(await page.locator('.selector li').count(), 13)
      await page.locator('.selector a', { hasText: '0.100.0' }).click()
      await page.waitForURL('**/crates/rope/0.100.0/')
      await page.locator('.selector summary').click()
      await page.locator('.selector [aria-current]', { hasText: '0.100.0' }).waitFor()
      await page.locator('.selector a', { hasText: '0.103.0' }).click()
      await page.waitForURL('**/crates/rope/0.103.0/')
    })
    const work = async (page: Page) => {
      await page.locator('.selector summary').click()
      await checkSize(page)
      await page.locator('.selector a', { hasText: '0.99.0' }).click()
      await page.waitForURL('**/crates/rope/0.99.0/')
      await page.locator('.selector summary').click()
      await page.locator('.selector a', { hasText: 'All versions' }).click()
      await page.waitForURL('**/crates/rope/#versions')
    }
    await look(place, 'crates/rope/', work, { ...SMALL, ...WITHOUT_SCRIPT })
  })

  test(`${place.what}: the filter finds versions that only the page of all versions has`, async () => {
    await look(place, 'crates/rope/#versions', async page => {
      assert.equal(await page.locator('#version-rows tr').count(), 100)
      await page.locator('.filter input').fill('yanked')
      await page.locator('#version-rows a:visible', { hasText: '0.3.0' }).waitFor()
      assert.equal(await page.locator('.filter output').textContent(), `1 of ${VERSIONS}`)
      await page.locator('#version-rows th a:visible').click()
      await page.waitForURL('**/crates/rope/0.3.0/')
    })
    const work = async (page: Page) => {
      await page.getByRole('link', { name: `Show all ${VERSIONS} versions` }).click()
      await page.waitForURL('**/crates/rope/versions/')
      assert.equal(await page.locator('#version-rows tr').count(), VERSIONS)
      await page.locator('#version-rows a', { hasText: '0.0.0' }).click()
      await page.waitForURL('**/crates/rope/0.0.0/')
    }
    await look(place, 'crates/rope/#versions', work, WITHOUT_SCRIPT)
    await look(place, 'crates/rope/versions/', checkLayout)
  })

  test(`${place.what}: a requirement says which version here is the newest, and which fits it`, async () => {
    const read = (page: Page) => page.locator('#dependencies .row-head').allInnerTexts()
    const ours = [
      'knot ^1 newest here: 1.0.0 yanked',
      `rope ^0.9 newest here: 0.${VERSIONS - 1}.0, which this excludes; newest that fits: 0.9.0`,
      'winch ^2 newest here: 1.0.0, which this excludes',
    ]
    for (const path of ['', '1.0.0/'])
      await look(place, `crates/mast/${path}#dependencies`, async page => {
        await page.locator('.row-head', { hasText: 'newest' }).nth(2).waitFor()
        assert.deepEqual((await read(page)).map(oneLine), ours)
        const marked = await page.locator('.tabs [aria-current]').allInnerTexts()
        assert.deepEqual(marked.map(oneLine), ['Dependencies 3'])
        await picture(page, shot('requirements'))
        await checkPage(page)
      })
    const badges = async (page: Page) => {
      const images = page.locator('#dependencies .row-head img')
      const names = await images.evaluateAll(all =>
        (all as HTMLImageElement[]).map(({ alt }) => alt),
      )
      assert.deepEqual(names, ['newest knot here', 'newest rope here', 'newest winch here'])
      for (const image of await images.all())
        assert.ok(await image.evaluate(image => (image as HTMLImageElement).naturalWidth > 50))
      await checkSize(page)
    }
    await look(place, 'crates/mast/#dependencies', badges, WITHOUT_SCRIPT)
    await look(place, 'crates/winch/#dependencies', async page => {
      await page.waitForLoadState('networkidle')
      assert.doesNotMatch(String(await read(page)), /newest/, 'they come from elsewhere')
    })
    const work = async (page: Page) =>
      assert.deepEqual((await read(page)).map(oneLine), ['knot ^1', 'rope ^0.9', 'winch ^2'])
    await look(place, 'crates/mast/#dependencies', work, WITHOUT_SCRIPT)
  })

  test(`${place.what}: a dependency leads to its registry and to the crate of its name here`, async () => {
    await look(place, 'crates/winch/#dependencies', async page => {
      assert.deepEqual(await linksOf(page, '#dependencies a:visible'), [
        'https://crates.io/crates/rope',
        `${place.url}/crates/rope/`,
        'https://crates.io/crates/serde',
      ])
      await checkLayout(page)
      await page.getByRole('link', { name: 'also in this registry' }).click()
      await page.waitForURL('**/crates/rope/')
      await page.locator('.tabs a', { hasText: 'Dependents' }).click()
      const dependent = page.locator('#dependents li', { hasText: 'winch' })
      assert.match(await dependent.innerText(), /winch.*\s.*from crates\.io/s)
      await checkLayout(page)
      await picture(page, shot('dependents'))
    })
  })
}
