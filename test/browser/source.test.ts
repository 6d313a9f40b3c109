import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildCrate } from '../support/crate-builder.ts'
import type { HarbourRelease } from '../support/harbour.ts'
import { releasePlaces, testViews } from './places.ts'

const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Three versions of a crate, with everything that a source browser has to show. */
function hull(): HarbourRelease[] {
  const guide = '# Guide\n\nSee [the code](../src/lib.rs) and [a part](#part).\n\n## Part\n'
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
    [version === '1.0.0' ? 'LICENSE' : 'LICENSE.txt']: 'Do what you like.\n',
  })
  const manifest = (version: string) => `license-file = "LICENSE"
readme = "README.md"
repository = "https://github.com/example/hull"
rust-version = "1.${version === '1.0.0' ? 70 : 80}"

[features]
default = [${version === '2.0.0' ? '"deep"' : ''}]
deep = []
`
  return ['1.0.0', '1.1.0', '2.0.0'].map((version, at) => ({
    name: 'hull',
    version,
    bytes: buildCrate({
      name: 'hull',
      version,
      manifest: manifest(version).replace('license-file = "LICENSE"\n', ''),
      files: files(version),
    }),
    at: `2026-0${at + 1}-01T00:00:00Z`,
    by: 'ada',
  }))
}

const { still, live, look } = releasePlaces(hull, { toml: 'raw_files = true\n' })

const views: [what: string, path: string][] = [
  ['changes of a crate', 'crates/hull/#changes'],
  ['compared neighbors', 'crates/hull/1.1.0/changes/'],
  ['a file with its tree', 'crates/hull/2.0.0/src/src/deep/mod.rs.html'],
  ['a part of a long file', 'crates/hull/2.0.0/parts/2/src/tables.rs.html#L2100-L2103'],
  ['a Markdown file', 'crates/hull/2.0.0/src/docs/guide.md.html'],
  ['an image', 'crates/hull/2.0.0/src/assets/dot.png.html'],
]
testViews(look, still, views)
testViews(look, live, [...views, ['compared versions', 'crates/hull/compare/1.0.0...2.0.0']])

for (const place of [still, live]) {
  test(`${place.what}: from the changes of a crate to a changed line in its file`, async () => {
    await look(place, 'crates/hull/#changes', async page => {
      const groups = await page.locator('#changes h3').allTextContents()
      assert.deepEqual(groups, ['Features', ...(place.isLive ? ['Compare any two versions'] : [])])
      const sum = await page.locator('#changes p', { hasText: 'files differ' }).innerText()
      await page.getByRole('link', { name: 'Changed files and lines' }).click()
      await page.waitForURL('**/crates/hull/2.0.0/changes/')
      assert.ok(sum.endsWith(await page.locator('.file-sum').innerText()), sum)
      assert.equal(await page.locator('h1').innerText(), 'Changes from 1.1.0 to 2.0.0')
      const files = await page.locator('.changed-files a').allTextContents()
      assert.deepEqual(files, ['Cargo.toml', 'src/deep/mod.rs', 'src/lib.rs'])
      const lines = page
        .locator('.file-diff', { hasText: 'src/deep/mod.rs' })
        .locator('code > span')
      assert.deepEqual(
        (await lines.allTextContents()).slice(1).map(one => one.trim()),
        ['1−pub const VERSION: &str = "1.1.0";', '1+pub const VERSION: &str = "2.0.0";'],
      )
      await page.locator('.file-diff', { hasText: 'src/deep/mod.rs' }).locator('.hunk a').click()
      await page.waitForURL('**/2.0.0/src/src/deep/mod.rs.html#L1')
      // The separators of the path are no part of the names.
      const trail = page.getByRole('navigation', { name: 'Breadcrumb' })
      await trail.getByRole('link', { name: 'Source', exact: true }).waitFor()
    })
  })

  test(`${place.what}: a renamed file, and the first version without a comparison`, async () => {
    await look(place, 'crates/hull/1.1.0/changes/', async page => {
      const renamed = await page.locator('.file-diff', { hasText: 'renamed' }).innerText()
      assert.match(renamed.replace(/\s+/g, ' '), /renamed LICENSE\.txt was LICENSE, with the same/)
    })
    assert.equal((await fetch(`${place.url}/crates/hull/1.0.0/changes/`)).status, 404)
  })

  test(`${place.what}: the tree beside a file, and the parts of its path`, async () => {
    await look(place, 'crates/hull/2.0.0/src/src/deep/mod.rs.html', async page => {
      assert.equal(await page.locator('.siblings [aria-current]').innerText(), 'mod.rs')
      const links = page.locator('.siblings a')
      const found = await links.evaluateAll(all => all.map(one => (one as HTMLAnchorElement).href))
      assert.equal(found.length, 8)
      for (const href of found) assert.equal((await fetch(href)).status, 200, href)
      await page.locator('.trail a', { hasText: 'deep' }).click()
      await page.waitForURL('**/2.0.0/src/#in-src%2Fdeep%2F')
      assert.equal(await page.locator('details:target[open]').count(), 1)
    })
  })

  test(`${place.what}: a long file is in parts, and a line leads to its own`, async () => {
    await look(place, 'crates/hull/2.0.0/src/src/tables.rs.html#L2100-L2103', async page => {
      await page.waitForURL('**/parts/2/src/tables.rs.html#L2100-L2103')
      await page.locator('.marked').first().waitFor()
      assert.equal(await page.locator('.marked').count(), 4)
      assert.match(await page.locator('.marked').first().innerText(), /^2100pub const T2099/)
      await page.locator('#L2110').click({ modifiers: ['Shift'] })
      await page.waitForURL('**#L2100-L2110')
      await page.locator('.parts a').first().click()
      await page.waitForURL('**/src/src/tables.rs.html')
    })
  })

  test(`${place.what}: code and link are copied, the raw file is plain text`, async () => {
    await look(place, 'crates/hull/2.0.0/src/src/deep/mod.rs.html', async page => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const copied = async (name: string) => {
        await page.getByRole('button', { name, exact: true }).click()
        await page.getByRole('button', { name: 'Copied' }).first().waitFor()
        return page.evaluate(() => navigator.clipboard.readText())
      }
      assert.equal(await copied('Copy'), 'pub const VERSION: &str = "2.0.0";\n')
      assert.equal(await copied('Copy link'), page.url())
      const raw = await page.getByRole('link', { name: 'Raw' }).getAttribute('href')
      const answer = await fetch(new URL(raw ?? '', page.url()))
      assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
      assert.equal(await answer.text(), 'pub const VERSION: &str = "2.0.0";\n')
    })
  })

  test(`${place.what}: Markdown is a document or its source, also without JavaScript`, async () => {
    const work = async (page: Page) => {
      const visible = async () => [
        await page.locator('#rendered').isVisible(),
        await page.locator('#source').isVisible(),
      ]
      assert.deepEqual(await visible(), [true, false])
      assert.equal(await page.locator('.tool:visible').count(), 1, 'buttons need a script')
      await page.locator('.views a', { hasText: 'Source' }).click()
      assert.deepEqual(await visible(), [false, true])
      await page.locator('#L3').click()
      assert.deepEqual(await visible(), [false, true])
      await page.locator('.views a', { hasText: 'Rendered' }).click()
      assert.deepEqual(await visible(), [true, false])
      await page.getByRole('link', { name: 'the code' }).click()
      await page.waitForURL('**/2.0.0/src/src/lib.rs.html')
    }
    await look(place, 'crates/hull/2.0.0/src/docs/guide.md.html', work, {
      javaScriptEnabled: false,
    })
  })

  test(`${place.what}: an image is shown`, async () => {
    await look(place, 'crates/hull/2.0.0/src/assets/dot.png.html', async page => {
      const width = await page
        .locator('.picture img')
        .evaluate(one => (one as HTMLImageElement).naturalWidth)
      assert.equal(width, 1)
    })
  })
}

test('daemon: the form compares any two versions without JavaScript', async () => {
  const work = async (page: Page) => {
    await page.locator('select[name=from]').selectOption('1.0.0')
    await page.locator('select[name=to]').selectOption('2.0.0')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.waitForURL('**/crates/hull/compare/1.0.0...2.0.0')
    assert.equal(await page.locator('h1').innerText(), 'Changes from 1.0.0 to 2.0.0')
    assert.equal(await page.locator('select[name=from]').inputValue(), '1.0.0')
    await page.getByRole('link', { name: 'Swap the versions' }).click()
    await page.waitForURL('**/crates/hull/compare/2.0.0...1.0.0')
  }
  await look(live, 'crates/hull/#changes', work, { javaScriptEnabled: false })
})

test('static tree: no form asks for what no file can answer', async () => {
  for (const path of ['crates/hull/#changes', 'crates/hull/2.0.0/changes/'])
    await look(still, path, async page => {
      assert.equal(await page.locator('.compare-form, a[href*=compare]').count(), 0)
    })
})
