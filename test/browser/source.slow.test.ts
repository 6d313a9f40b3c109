// Mirrors site/browser/sources/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildCrate } from '../support/crate-builder.ts'
import type { HarbourRelease } from '../support/harbour.ts'
import { checkLayout, picture } from './browsing.ts'
import { releasePlaces, testViews } from './places.ts'

const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Longer than a sheet is wide, with nowhere to break. */
const LONG = `${'x'.repeat(300)}\n`

/** Three versions of a crate, with everything that the pages of sources have to show. */
function hull(): HarbourRelease[] {
  const guide =
    '# Guide\n\nSee [the code](../src/lib.rs), [a part](#part) and ![a dot](../assets/dot.png).\n\n```rust\nfn f() {}\n```\n\n## Part\n'
  const files = (version: string) => ({
    'README.md': '# Hull\n\n- [Guide](docs/guide.md)\n- [elsewhere](docs/none.md)\n',
    'docs/guide.md': guide,
    'src/lib.rs': `//! Hull ${version}.\n\npub mod deep;\n\n/// The draft, in meters.\npub fn draft() -> u32 {\n    ${version.length}${version[0]}\n}\n`,
    'src/deep/mod.rs': `pub const VERSION: &str = "${version}";\n`,
    'src/tables.rs': Array.from(
      { length: 2500 },
      (_, at) => `pub const T${at}: u32 = ${at};\n`,
    ).join(''),
    'assets/dot.png': DOT,
    [version === '1.0.0' ? 'NOTES' : 'docs/NOTES.txt']:
      `${'Do what you like.\n'.repeat(20)}${LONG}${version}\n`,
  })
  return ['1.0.0', '1.1.0', '2.0.0'].map((version, at) => ({
    name: 'hull',
    version,
    bytes: buildCrate({
      name: 'hull',
      version,
      manifest: `readme = "README.md"\nrepository = "https://github.com/example/hull"\n\n[features]\ndefault = [${version === '2.0.0' ? '"deep"' : ''}]\ndeep = []\n`,
      files: files(version),
    }),
    at: `2026-0${at + 1}-01T00:00:00Z`,
    by: 'ada',
  }))
}

const { still, live, look } = releasePlaces(hull)

const SOURCE = 'crates/hull/2.0.0/src/'

const views: [what: string, path: string][] = [
  ['changes of a crate', 'crates/hull/#changes'],
  ['changes of a manifest', 'crates/hull/2.0.0/changes/'],
  ['source', SOURCE],
  ['a Markdown file', `${SOURCE}#docs/guide.md`],
  ['an image', `${SOURCE}#assets/dot.png`],
  ['compared versions', 'crates/hull/compare/#1.0.0...2.0.0'],
]
testViews(look, still, views)
testViews(look, live, views.slice(2, 3))

/** The path of the file that is shown, when its package was checked. */
async function shown(page: Page): Promise<string> {
  await page.locator('[data-checksum=verified]').waitFor()
  return page.locator('.file-name').innerText()
}

for (const place of [still, live]) {
  test(`${place.what}: a package is verified, and its files are shown with their lines`, async () => {
    await look(place, 'crates/hull/2.0.0/', async page => {
      await page.getByRole('link', { name: 'Source' }).click()
      assert.equal(await shown(page), 'src/lib.rs')
      assert.match(
        await page.locator('[data-state]').innerText(),
        /^Verified: hull 2\.0\.0 matches the /,
      )
      await page.locator('.code .hljs-keyword').first().waitFor()
      await page.locator('.tree summary', { hasText: 'deep' }).click()
      await page.getByRole('link', { name: 'mod.rs' }).click()
      await page.waitForURL(`**/${SOURCE}#src/deep/mod.rs`)
      await page.locator('.file-name', { hasText: 'src/deep/mod.rs' }).waitFor()
      assert.equal(await page.locator('.tree [aria-current]').innerText(), 'mod.rs')
      assert.equal(
        await page.locator('.code code').textContent(),
        'pub const VERSION: &str = "2.0.0";\n',
      )
      await page.goBack()
      await page.locator('.file-name', { hasText: 'src/lib.rs' }).waitFor()
    })
  })

  test(`${place.what}: lines are chosen by clicks and by addresses`, async () => {
    await look(place, `${SOURCE}#src/tables.rs:L2100-L2103`, async page => {
      assert.equal(await shown(page), 'src/tables.rs')
      await checkLayout(page)
      const marked = page.locator('.marked')
      const inView = () =>
        marked.evaluate(element => {
          const { top, bottom, height } = element.getBoundingClientRect()
          return top >= 0 && bottom <= innerHeight ? Math.round(height) : 'not in view'
        })
      // The blocks are replaced when their colors are there.
      await page.locator('.code .hljs-keyword').first().waitFor()
      const line = await page
        .locator('.code')
        .evaluate(element => Number.parseFloat(getComputedStyle(element).lineHeight))
      assert.equal(await inView(), Math.round(4 * line))
      const click = async (number: number, modifiers: 'Shift'[] = []) => {
        const numbers = page.locator('.numbers', { hasText: String(number) })
        const first = Number(await numbers.getAttribute('data-first'))
        await numbers.click({ position: { x: 20, y: (number - first + 0.5) * line }, modifiers })
      }
      await click(2110)
      await page.waitForURL('**#src/tables.rs:L2110')
      await click(2105, ['Shift'])
      await page.waitForURL('**#src/tables.rs:L2105-L2110')
      assert.equal(await inView(), Math.round(6 * line))
      await page.goto(`${place.url}/${SOURCE}#src/tables.rs:L2499-L999999`)
      assert.equal(await inView(), Math.round(2 * line))
      await page.goto(`${place.url}/${SOURCE}#src/none.rs`)
      await page.getByText('This package has no file src/none.rs.').waitFor()
      assert.equal(await page.locator('.tree [aria-current]').count(), 0)
    })
  })

  test(`${place.what}: Markdown is a document with images and links of the package, or its source`, async () => {
    await look(place, `${SOURCE}#docs/guide.md`, async page => {
      await shown(page)
      const document = page.locator('[aria-label=Rendered] .readme')
      await document.locator('.hljs-keyword').waitFor()
      const image = document.locator('img')
      assert.match((await image.getAttribute('src')) ?? '', /^blob:/)
      assert.equal(await image.evaluate(image => (image as HTMLImageElement).naturalWidth), 1)
      await page.getByRole('button', { name: 'Source', exact: true }).click()
      await page.locator('.code', { hasText: '# Guide' }).waitFor()
      await page.getByRole('button', { name: 'Rendered' }).click()
      await document.getByRole('link', { name: 'a part' }).click()
      assert.match(page.url(), /#docs\/guide\.md$/)
      await document.getByRole('link', { name: 'the code' }).click()
      await page.waitForURL(`**/${SOURCE}#src/lib.rs`)
    })
  })

  test(`${place.what}: an image is shown, code and link are copied, a file is saved as bytes`, async () => {
    await look(place, `${SOURCE}#assets/dot.png`, async page => {
      await shown(page)
      const image = page.locator('.picture img')
      assert.equal(await image.evaluate(image => (image as HTMLImageElement).naturalWidth), 1)
      await page.goto(`${place.url}/${SOURCE}#src/deep/mod.rs`)
      await page.locator('.file-name', { hasText: 'mod.rs' }).waitFor()
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const copied = async (name: string) => {
        await page.getByRole('button', { name, exact: true }).click()
        await page.getByRole('button', { name: 'Copied' }).first().waitFor()
        return page.evaluate(() => navigator.clipboard.readText())
      }
      assert.equal(await copied('Copy'), 'pub const VERSION: &str = "2.0.0";\n')
      assert.equal(await copied('Copy link'), page.url())
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ])
      assert.equal(download.suggestedFilename(), 'mod.rs')
    })
  })

  test(`${place.what}: a file is found by its path, and a text in all files`, async () => {
    await look(place, SOURCE, async page => {
      await shown(page)
      await page.keyboard.press('t')
      await page.keyboard.type('tab:12')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/${SOURCE}#src/tables.rs:L12`)
      await page.getByPlaceholder('Search in all files').fill('version')
      const hits = page.locator('.found li')
      await hits.filter({ hasText: 'src/deep/mod.rs:1' }).waitFor()
      assert.match(await page.locator('.found p').innerText(), /^\d+ places$/)
      await page.getByPlaceholder('Search in all files').fill('const version')
      await page.locator('.found p', { hasText: /^1 place$/ }).waitFor()
      await hits.filter({ hasText: 'src/deep/mod.rs:1' }).locator('a').click()
      await page.waitForURL(`**/${SOURCE}#src/deep/mod.rs:L1`)
      await page.locator('.file-name', { hasText: 'mod.rs' }).waitFor()
    })
  })

  test(`${place.what}: from the changes of a crate to the changed lines of a file`, async () => {
    await look(place, 'crates/hull/#changes', async page => {
      assert.deepEqual(await page.locator('#changes h3').allTextContents(), ['Features'])
      await page.getByRole('link', { name: 'Changed files and lines' }).click()
      await page.waitForURL('**/crates/hull/compare/#1.1.0...2.0.0')
      const sum = page.locator('.file-sum')
      await sum.waitFor()
      assert.equal(await sum.innerText(), '4 files differ: 4 changed; 6 lines added, 6 removed.')
      const lines = page
        .locator('.file-diff', { hasText: 'src/deep/mod.rs' })
        .locator('code > span:not(.hunk)')
      await lines.first().waitFor()
      assert.deepEqual(
        (await lines.allTextContents()).map(text => text.trim()),
        ['1−pub const VERSION: &str = "1.1.0";', '1+pub const VERSION: &str = "2.0.0";'],
      )
      await page.locator('.diff .hljs-keyword').first().waitFor()
      const line = page.locator('.file-diff', { hasText: 'src/deep/mod.rs' }).locator('.hunk a')
      assert.equal(await line.getAttribute('href'), '../2.0.0/src/#src/deep/mod.rs:L1')
      await page.locator('select[name=from]').selectOption('1.0.0')
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.waitForURL('**/crates/hull/compare/#1.0.0...2.0.0')
      await page.locator('h2', { hasText: 'from 1.0.0 to 2.0.0' }).waitFor()
      const renamed = page.locator('.file-diff', { hasText: 'renamed' })
      assert.match(await renamed.innerText(), /docs\/NOTES\.txt \+1 −1\s+was NOTES/)
      await page.getByRole('button', { name: 'Swap' }).click()
      await page.waitForURL('**/crates/hull/compare/#2.0.0...1.0.0')
      // Without versions in its address, the page shows the newest two, also on the way back.
      const newest = page.locator('h2', { hasText: 'from 1.1.0 to 2.0.0' })
      await page.goto(`${place.url}/crates/hull/compare/`)
      await newest.waitFor()
      await page.getByRole('button', { name: 'Swap' }).click()
      await page.locator('h2', { hasText: 'from 2.0.0 to 1.1.0' }).waitFor()
      await page.goBack()
      await newest.waitFor()
    })
  })

  test(`${place.what}: an address names a file that differs, and the form works as a link does`, async () => {
    await look(place, 'crates/hull/compare/#1.0.0...2.0.0:src/deep/mod.rs', async page => {
      await page.locator('.file-sum').waitFor()
      const file = page.locator('.file-diff', { hasText: 'src/deep/mod.rs' })
      await page.waitForFunction(
        element => (element?.getBoundingClientRect().top ?? innerHeight) < innerHeight,
        await file.elementHandle(),
      )
      await page.goto(`${place.url}/crates/hull/compare/?from=1.0.0&to=1.1.0`)
      await page.waitForURL('**/crates/hull/compare/#1.0.0...1.1.0')
      await page.locator('h2', { hasText: 'from 1.0.0 to 1.1.0' }).waitFor()
      await page.goto(`${place.url}/crates/hull/compare/#1.0.0...9.9.9`)
      await page.getByText('could not be compared: this page lists no version 9.9.9.').waitFor()
    })
  })

  test(`${place.what}: without JavaScript there are the list of files and the changes of the manifest`, async () => {
    const work = async (page: Page) => {
      const checksum = await page.locator('[data-checksum]').getAttribute('data-checksum')
      assert.equal(checksum, 'unchecked')
      assert.match(await page.locator('[data-state]').innerText(), /^Not checked\./)
      assert.match(await page.locator('.files').innerText(), /^\s*src\/lib\.rs \d+ B$/m)
      const link = page.getByRole('link', { name: 'Download the package' })
      assert.equal((await fetch((await link.getAttribute('href')) ?? '')).status, 200)
      await page.goto(`${place.url}/crates/hull/2.0.0/changes/`)
      assert.match(await page.locator('.manifest').innerText(), /changed default now enables deep/)
      const compare = page.getByRole('link', { name: 'Compare the files' })
      assert.equal(await compare.getAttribute('href'), '../../compare/#1.1.0...2.0.0')
    }
    await look(place, SOURCE, work, { javaScriptEnabled: false })
  })
}

const SHIFTS = `new Promise(done => {
  let sum = 0
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)))
})`

for (const width of [1100, 390])
  for (const path of [SOURCE, 'crates/hull/compare/'])
    test(`nothing moves while ${path} loads, and the window is not scrolled: ${width} px wide`, () =>
      look(
        still,
        path,
        async page => {
          await page.locator('[data-checksum=verified]').waitFor()
          await page
            .locator(path === SOURCE ? '.block' : '.file-diff')
            .first()
            .waitFor()
          const moved = (await page.evaluate(SHIFTS)) as number
          assert.ok(moved <= 0.05, `layout shift ${moved}`)
          assert.equal(await page.evaluate(() => scrollY), 0)
        },
        { viewport: { width, height: 800 } },
      ))

test('nothing moves on the way to a line of another file', () =>
  look(still, SOURCE, async page => {
    await page.locator('[data-sources][aria-busy=false]').waitFor()
    await page.evaluate(() => {
      location.hash = 'src/tables.rs:L30'
    })
    await page.waitForFunction(() => scrollY > 0)
    const moved = (await page.evaluate(SHIFTS)) as number
    assert.ok(moved <= 0.05, `layout shift ${moved}`)
  }))

test('a comparison is filtered and folded, and its overview says what was renamed', () =>
  look(live, 'crates/hull/compare/#1.0.0...2.0.0', async page => {
    const files = page.locator('.file-diff')
    await files.first().waitFor()
    assert.match(await page.locator('.changed-files').innerText(), /NOTES\.txt renamed from NOTES/)
    await page.fill('.filter input', 'src/ lib')
    assert.deepEqual(await files.filter({ visible: true }).count(), 1)
    assert.equal(await page.locator('.changed-files li').filter({ visible: true }).count(), 1)
    await page.fill('.filter input', '')
    await page.click('text=Fold all')
    assert.equal(await page.locator('.file-diff[open]').count(), 0)
    await page.click('text=Unfold all')
    assert.equal(await page.locator('.file-diff[open]').count(), await files.count())
    await checkLayout(page)
  }))

/** What is wider than the sheet or than the box that cuts it, as text that the page shows. */
const CUT = `[...document.querySelectorAll('main *')].filter(element => {
  const { overflowX } = getComputedStyle(element)
  const isCut = overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1
  const isOut = element.getBoundingClientRect().right > innerWidth + 1
  return element.checkVisibility() && (isCut || isOut)
}).map(element => element.className + ': ' + element.textContent.slice(0, 40))`

for (const [what, path] of [
  ['a file', `${SOURCE}#docs/NOTES.txt`],
  ['a long file', `${SOURCE}#src/tables.rs`],
  ['a document', `${SOURCE}#docs/guide.md`],
  ['a comparison', 'crates/hull/compare/#1.0.0...2.0.0'],
] as const)
  test(`on paper, ${what} has no tree, no buttons and no cut lines`, () =>
    look(still, path, async page => {
      await page.locator('[data-checksum=verified]').waitFor()
      await page.locator('.block, .diff code, [aria-busy=false]').first().waitFor()
      // An upright sheet of A4 between margins.
      await page.setViewportSize({ width: 718, height: 1000 })
      await page.emulateMedia({ media: 'print' })
      const tools = page.locator(
        'main :is(.siblings, .tree, .finders, .filter, input, button, form)',
      )
      const shown = await tools
        .filter({ visible: true })
        .evaluateAll(all => all.map(tool => tool.outerHTML))
      assert.deepEqual(shown, [])
      assert.deepEqual(await page.evaluate(CUT), [])
      if (what === 'a long file')
        assert.match(await page.locator('.code').innerText(), /T0: u32[\s\S]*T2499: u32/)
      await picture(page, `print-${what.replaceAll(' ', '-')}`)
    }))
