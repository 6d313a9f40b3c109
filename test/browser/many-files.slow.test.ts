// Mirrors site/browser/sources/: crates of strangers with very many files
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCrate } from '../support/crate-builder.ts'
import type { HarbourRelease } from '../support/harbour.ts'
import { longest, TASK_MAX } from './longest.ts'
import { releasePlaces } from './places.ts'

const FILES = 49_000

/** Files of strangers that are costly to show. */
const COSTLY = {
  'colors.rs': 'fn f(x: u8) -> u8 { x + 1 } // one\n'.repeat(40_000),
  'lines.txt': '\n'.repeat(2_000_000),
  'mixed.txt': `${'مرحبا word '.repeat(450)}\n`.repeat(1000),
  'long.rs': 'let x = 1; '.repeat(450_000),
}

/** Two versions of a crate with very many files, all of them in one folder and all different. */
function reef(): HarbourRelease[] {
  const others = ['1.0.0', '1.1.0'].map(version => {
    const long = `${`${version} مرحبا word `.repeat(300)}\n`.repeat(150)
    const files = { ...COSTLY, 'changed.txt': long }
    const bytes = buildCrate({ name: 'costly', version, files })
    return { name: 'costly', version, bytes, at: '2026-03-01T00:00:00Z', by: 'ada' }
  })
  const reefs = ['1.0.0', '2.0.0'].map((version, at) => {
    const files = Object.fromEntries(
      Array.from({ length: FILES }, (_, at) => [`corals/${at + FILES}.rs`, `// ${version}\n`]),
    )
    const bytes = buildCrate({ name: 'reef', version, files: { ...files, 'src/lib.rs': '' } })
    return { name: 'reef', version, bytes, at: `2026-0${at + 1}-01T00:00:00Z`, by: 'ada' }
  })
  return [...reefs, ...others]
}

const { still, look } = releasePlaces(reef)

test('a folder of 49,000 files shows the first 1,000, more on request, and the one of the address', async () => {
  await look(still, 'crates/reef/2.0.0/src/#corals/50234.rs', async page => {
    const most = await longest(page, async () => {
      await page.reload()
      await page.locator('.file-name', { hasText: '50234' }).waitFor({ timeout: 60_000 })
    })
    const items = page.locator('.tree .tree > li')
    assert.equal(await items.count(), 1002)
    assert.equal(await page.locator('.tree [aria-current]').innerText(), '50234.rs')
    await page.getByRole('button', { name: 'Show more' }).click()
    // The entries in their order, with the one of the address in its place, and the button.
    assert.equal(await items.count(), 2001)
    assert.equal(await items.nth(1234).innerText(), '50234.rs')
    assert.ok(most < TASK_MAX, `the page was busy for ${most} ms`)
    const typing = await longest(page, async () => {
      await page.getByPlaceholder('Go to file').fill('corals rs')
      await page.locator('.found a').first().waitFor()
    })
    assert.ok(typing < TASK_MAX, `the page was busy for ${typing} ms`)
  })
})

test('long lines that differ keep nobody waiting', async () => {
  await look(still, 'crates/costly/compare/#1.0.0...1.1.0', async page => {
    const most = await longest(page, async () => {
      await page.reload()
      await page.locator('[data-path="changed.txt"]').scrollIntoViewIfNeeded()
      await page.getByText(/\d+ more lines are not shown here/).waitFor({ timeout: 60_000 })
    })
    assert.ok(most < TASK_MAX, `the page was busy for ${most} ms`)
  })
})

test('a comparison of 49,000 files shows the first 1,000, and their lines when they come into view', async () => {
  await look(still, 'crates/reef/compare/#1.0.0...2.0.0', async page => {
    const most = await longest(page, async () => {
      await page.reload()
      await page.locator('.file-diff').nth(999).waitFor({ state: 'attached', timeout: 60_000 })
    })
    assert.equal(await page.locator('.file-diff').count(), 1000)
    const filled = await page.locator('.file-diff .diff').count()
    assert.ok(filled < 100, `${filled} files were filled`)
    await page.locator('.file-diff').nth(600).scrollIntoViewIfNeeded()
    await page.locator('.file-diff').nth(600).locator('.diff').waitFor()
    // One beyond them that the address names comes ahead, and later moves to its place.
    await page.evaluate(() => location.assign('#1.0.0...2.0.0:corals/50234.rs'))
    const named = page.locator('[data-path="corals/50234.rs"]')
    await named.locator('.diff').waitFor()
    await page.getByRole('button', { name: 'Show more' }).last().click()
    await page.locator('.file-diff').nth(1999).waitFor({ state: 'attached' })
    assert.equal(await named.count(), 1)
    assert.ok(most < TASK_MAX, `the page was busy for ${most} ms`)
  })
})

for (const path of Object.keys(COSTLY))
  test(`${path} keeps its reader waiting no longer than others`, async () => {
    await look(still, `crates/costly/1.0.0/src/#${path}`, async page => {
      const most = await longest(page, async () => {
        await page.reload()
        await page.locator('.file-name', { hasText: path }).waitFor({ timeout: 60_000 })
        if (path === 'lines.txt')
          await page.getByText('This file is not text, or is too large to show.').waitFor()
        // The last block gets its colors last.
        const last = '.block:last-child .hljs-comment'
        if (path === 'colors.rs')
          await page.waitForFunction(css => document.querySelector(css) !== null, last, {
            polling: 500,
          })
      })
      assert.ok(most < TASK_MAX, `the page was busy for ${most} ms`)
    })
  })

test('without a script, the first 1,000 files are listed, and the number of the others', async () => {
  const page = await (await fetch(`${still.url}/crates/reef/2.0.0/src/`)).text()
  assert.equal(page.match(/<li>(?:corals\/|Cargo)/g)?.length, 1000)
  assert.match(page, /48,002 more files are in the package/)
})
