// Mirrors site/browser/page.ts
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { keel } from '../support/demo-facts.ts'
import { demoFacts, demoSite, writeSite } from '../support/demo-site.ts'
import { type FileServer, serveFiles } from '../support/static-server.ts'
import { checkPage, checkSize, PHONE, picture } from './browsing.ts'

let folder: string
let server: FileServer
let browser: Browser

before(async () => {
  browser = await launchChromium()
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-user-'))
  server = await serveFiles(folder, '/sub/path')
  writeSite(folder, demoSite(demoFacts(server.url), [keel]))
})

after(async () => {
  await browser?.close()
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns the text of the account link of a static page, with a cookie. */
async function accountLink(cookie: string | null, javaScriptEnabled = true): Promise<string> {
  const context = await browser.newContext({ ...PHONE, javaScriptEnabled })
  try {
    if (cookie !== null) {
      const [name = '', value = ''] = cookie.split(/=(.*)/s)
      const { hostname: domain, pathname } = new URL(server.url)
      await context.addCookies([{ name, value, domain, path: `${pathname}/`, sameSite: 'Strict' }])
    }
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', error => complaints.push(error.message))
    page.on('console', message => complaints.push(message.text()))
    await page.goto(`${server.url}/crates/keel/`)
    const link = page.locator('.top nav a').last()
    assert.equal(
      new URL(await link.evaluate(element => (element as HTMLAnchorElement).href)).pathname,
      '/sub/path/me',
    )
    if (javaScriptEnabled) {
      await (cookie === 'plimsoll_user=grace' ? checkPage(page) : checkSize(page))
      if (cookie?.includes('grace')) await picture(page, 'logged-in-phone')
    }
    assert.deepEqual(complaints, [])
    assert.equal(await page.locator('.top b').count(), 0)
    return await link.innerText()
  } finally {
    await context.close()
  }
}

test('a static page under a prefix shows who is logged in, and a forged name is only text', async () => {
  assert.equal(await accountLink('plimsoll_user=grace'), 'grace')
  assert.equal(await accountLink(null), 'Account')
  assert.equal(await accountLink('plimsoll_user=grace', false), 'Account')
  assert.equal(await accountLink('other_plimsoll_user=eve'), 'Account')
  assert.equal(await accountLink('plimsoll_user=%3Cb%3Ex%3C/b%3E'), '<b>x</b>')
  assert.equal(await accountLink('plimsoll_user=100%'), '100%')
  assert.equal((await accountLink(`plimsoll_user=${'w'.repeat(3000)}`)).length, 40)
})
