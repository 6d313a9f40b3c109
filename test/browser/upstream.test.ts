import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { MadeUpUpstream } from '../support/made-up-upstream.ts'
import { checkPage, PHONE, picture, visit } from './browsing.ts'
import { servedRegistry } from './places.ts'

const browser = await launchChromium()
after(() => browser.close())

/** Checks a page wide and on a phone, in the light and in the dark. */
async function checkAll(page: Page, name: string): Promise<void> {
  for (const width of [1200, PHONE.viewport.width])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await checkPage(page)
      await picture(page, `${name}-${width}-${colorScheme}`, { fullPage: true })
    }
}

test('from the front page to a version that an administrator allows', async t => {
  const cleanup = new Cleanup(t)
  const made = await MadeUpUpstream.start(cleanup)
  made.publish({ name: 'demo', pubtime: '2020-01-01T00:00:00Z' })
  made.publish({ name: 'demo', version: '1.1.0', pubtime: '2999-01-01T00:00:00Z' })
  const env = {
    PLIMSOLL_UPSTREAM_PARTNER_INDEX: made.index,
    PLIMSOLL_UPSTREAM_PARTNER_FALLBACK: 'serve',
    PLIMSOLL_UPSTREAM_PARTNER_HOLD: '7d',
    PLIMSOLL_UPSTREAM_PARTNER_FRESH: '0',
    PLIMSOLL_UPSTREAM_PARTNER_DENY: 'left-pad,openssl@<0.10.70',
  }
  const { url, operator } = await servedRegistry(cleanup, env)
  await operator.add('root', true)
  const link = await operator.link('root')
  await fetch(`${url}/upstream/partner/?crate=demo`)
  made.edit('demo', lines =>
    lines.map(line => line.replace('"features":{}', '"features":{"x":[]}')),
  )
  await visit(browser, url, '', async page => {
    await page.click('text=Upstreams')
    await page.click('text=partner')
    assert.equal(page.url(), `${url}/upstream/partner/`)
    await page.fill('input[name=crate]', 'demo')
    await page.click('main button:has-text("Show")')
    assert.match(await page.locator('main').innerText(), /demo@1\.1\.0 is shown as yanked/)
    await checkAll(page, 'upstream-reader')
    await page.goto(link)
    await page.fill('input[name=password]', 'a long walk on the pier')
    await page.fill('input[name=again]', 'a long walk on the pier')
    await page.click('button.main')
    await page.goto(`${url}/upstream/partner/?crate=demo`)
    await page.click('text=allow held versions')
    await checkAll(page, 'upstream-admin')
    await page.click('[aria-label="Allow: demo@1.1.0"]')
    await page.click('button:has-text("Allow demo@1.1.0")')
    assert.match(await page.locator('[role=status]').first().innerText(), /shown although/)
    await page.click('[aria-label="Hold again: demo@1.1.0"]')
    await page.click('button:has-text("Hold demo@1.1.0 again")')
    assert.equal(await page.locator('[aria-label="Allow: demo@1.1.0"]').count(), 1)
  })
})
