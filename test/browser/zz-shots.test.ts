import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { launchChromium } from '../support/chromium.ts'
import { fleet, keel } from '../support/demo-facts.ts'
import { demoAccount, demoFacts, demoSite, writeSite } from '../support/demo-site.ts'
import { serveFiles } from '../support/static-server.ts'

test('shots', async () => {
  const browser = await launchChromium()
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-site-'))
  const server = await serveFiles(folder, '/sub/path')
  const site = demoFacts(server.url)
  writeSite(folder, demoSite(site, [keel, ...fleet]))
  writeSite(folder, demoAccount(site, [keel]))
  const pages = [
    ['front', ''],
    ['keel', 'crates/keel/'],
    ['versions', 'crates/keel/#versions'],
    ['version', 'crates/keel/1.4.0/'],
    ['search', 'search/results.html'],
    ['vain', 'search/?q=nothinglikeit'],
    ['keywords', 'keywords/'],
    ['categories', 'categories/'],
    ['me', 'me.html'],
    ['login', 'me/login.html'],
    ['audit', 'me/admin/audit.html'],
    ['statistics', 'statistics/'],
  ] as const
  const only = process.env.ONLY?.split(',')
  for (const width of [1440, 768, 360])
    for (const scheme of ['light', 'dark'] as const) {
      if (scheme === 'dark' && width !== 360) continue
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme: scheme,
      })
      for (const [name, path] of pages) {
        if (only && !only.includes(name)) continue
        const page = await context.newPage()
        await page.goto(`${server.url}/${path}`)
        await page.waitForTimeout(500)
        await page.screenshot({ path: `/tmp/shots/${name}-${width}-${scheme}.png` })
        if (name === 'keel' && width === 1440) await page.pdf({ path: '/tmp/shots/keel.pdf' })
        await page.close()
      }
      await context.close()
    }
  await browser.close()
  await server.close()
})
