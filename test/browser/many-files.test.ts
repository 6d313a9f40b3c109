// Mirrors site/browser/sources/: crates of strangers with very many files
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildCrate } from '../support/crate-builder.ts'
import type { HarbourRelease } from '../support/harbour.ts'
import { releasePlaces } from './places.ts'

const FILES = 40_000

/** Two versions of a crate with very many files, all of them in one folder and all different. */
function reef(): HarbourRelease[] {
  return ['1.0.0', '2.0.0'].map((version, at) => {
    const files = Object.fromEntries(
      Array.from({ length: FILES }, (_, at) => [`corals/${at + FILES}.rs`, `// ${version}\n`]),
    )
    const bytes = buildCrate({ name: 'reef', version, files: { ...files, 'src/lib.rs': '' } })
    return { name: 'reef', version, bytes, at: `2026-0${at + 1}-01T00:00:00Z`, by: 'ada' }
  })
}

const { still, look } = releasePlaces(reef)

/** Has the page note its long tasks, and returns the longest one so far in milliseconds. */
async function longest(page: Page, work: () => Promise<unknown>): Promise<number> {
  await page.addInitScript(() => {
    const tasks: number[] = []
    Object.assign(globalThis, { tasks })
    new PerformanceObserver(list => {
      for (const { duration } of list.getEntries()) tasks.push(duration)
    }).observe({ type: 'longtask', buffered: true })
  })
  await page.reload()
  await work()
  return page.evaluate(() => Math.max(0, ...(globalThis as unknown as { tasks: number[] }).tasks))
}

test('a folder of 40,000 files shows the first 1,000, more on request, and the one of the address', async () => {
  await look(still, 'crates/reef/2.0.0/src/#corals/79999.rs', async page => {
    const most = await longest(page, async () => {
      await page.locator('.file-name', { hasText: '79999' }).waitFor({ timeout: 60_000 })
    })
    const items = page.locator('.tree .tree > li')
    assert.equal(await items.count(), 1002)
    assert.equal(await page.locator('.tree [aria-current]').innerText(), '79999.rs')
    await page.getByRole('button', { name: 'Show more' }).click()
    assert.equal(await items.count(), 2002)
    // Twice what it may be on a quiet machine: others run beside this test.
    assert.ok(most < 1000, `the page was busy for ${most} ms`)
  })
})

test('a comparison of 40,000 files shows the first 1,000, and their lines when they come into view', async () => {
  await look(still, 'crates/reef/compare/#1.0.0...2.0.0', async page => {
    const most = await longest(page, async () => {
      await page.locator('.file-diff').nth(999).waitFor({ state: 'attached', timeout: 60_000 })
    })
    assert.equal(await page.locator('.file-diff').count(), 1000)
    const filled = await page.locator('.file-diff .diff').count()
    assert.ok(filled < 100, `${filled} files were filled`)
    await page.locator('.file-diff').nth(600).scrollIntoViewIfNeeded()
    await page.locator('.file-diff').nth(600).locator('.diff').waitFor()
    // Twice what it may be on a quiet machine: others run beside this test.
    assert.ok(most < 1000, `the page was busy for ${most} ms`)
  })
})

test('without a script, the first 1,000 files are listed, and the number of the others', async () => {
  const page = await (await fetch(`${still.url}/crates/reef/2.0.0/src/`)).text()
  assert.equal(page.match(/<li>(?:corals\/|Cargo)/g)?.length, 1000)
  assert.match(page, /39,002 more files are in the package/)
})
