import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { cratePage } from '../../site/crate/page.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { launchChromium } from '../support/chromium.ts'
import { crate, fleet, keel, readme, version } from '../support/demo-facts.ts'
import { demoAccount, demoFacts, demoSite, writeSite } from '../support/demo-site.ts'
import { hostile, PAYLOADS } from '../support/hostile.ts'
import { type FileServer, serveFiles } from '../support/static-server.ts'
import { checkView, visit } from './browsing.ts'

let folder: string
let server: FileServer
let browser: Browser
let site: SiteConfig
const long = crate(version({ name: 'a'.repeat(64), version: `1.0.0-${'b'.repeat(64)}` }))

before(async () => {
  browser = await launchChromium()
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-site-'))
  server = await serveFiles(folder, '/sub/path')
  site = demoFacts(server.url)
  writeSite(folder, demoSite(site, [keel, ...fleet, hostile, long]))
  writeSite(folder, demoAccount(site, [keel, long]))
  writeSite(
    folder,
    PAYLOADS.map((text, at) =>
      cratePage(site, crate(version({ name: `payload-${at}`, readme: readme(text) }))),
    ),
  )
  const text = '> [!TIP]\n> a\n\n> [!WARNING]\n> b\n\nمرحبا بالعالم 1.0\n\nleft\n'
  writeSite(folder, [cratePage(site, crate(version({ name: 'coloured', readme: readme(text) })))])
  writeSite(join(folder, 'empty'), demoSite(demoFacts(`${server.url}/empty`), []))
})

after(async () => {
  await browser?.close()
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const pages: [what: string, path: string][] = [
  ['search as a server answers it', 'search/results.html'],
  ['hostile facts', 'crates/hostile/'],
  ['hostile dependencies', 'crates/hostile/#dependencies'],
  ['long name', `crates/${long.name}/`],
  ['empty registry', 'empty/'],
  ['empty list', 'empty/crates/'],
  ['login', 'me/login.html'],
  ['account', 'me.html'],
  ['manage', 'me/crates/keel.html'],
  ['question before a yank', 'me/crates/keel/yank.html'],
  ['users', 'me/admin/users.html'],
  ['audit log', 'me/admin/audit.html'],
  ['status', 'me/admin/status.html'],
]
for (const [what, path] of pages) {
  test(`${what}: axe finds nothing serious, nothing sticks out`, () =>
    visit(browser, server.url, path, page => checkView(page, what)))
}

for (const [at, payload] of [...PAYLOADS.entries(), ['all', 'all of them'] as const]) {
  test(`in a browser, harmless: ${JSON.stringify(payload.slice(0, 60))}`, async () => {
    await visit(
      browser,
      server.url,
      `crates/${at === 'all' ? 'hostile' : `payload-${at}`}/`,
      async page => {
        for (const link of await page.locator('.readme a').all()) {
          const href = (await link.getAttribute('href')) ?? '#'
          assert.match(href, /^(https?:|mailto:|#user-content-)/)
        }
        assert.equal(await page.evaluate('typeof __hit'), 'undefined')
        assert.equal(await page.locator('body > main > .crate .side').count(), 1)
        assert.equal(
          await page
            .locator(
              '.readme :is(script, style, iframe, object, embed, form, svg, math, base, link, meta, video)',
            )
            .count(),
          0,
        )
      },
    )
  })
}

test('the title of an alert has the colour of its kind', async () => {
  await visit(browser, server.url, 'crates/coloured/', async page => {
    const colours = await page.locator('.markdown-alert').evaluateAll(all =>
      all.map(element => {
        const title = element.querySelector('.markdown-alert-title') ?? element
        return [getComputedStyle(title).color, getComputedStyle(element).borderLeftColor]
      }),
    )
    for (const [title, border] of colours) assert.equal(title, border)
    assert.equal(new Set(colours.map(([title]) => title)).size, 2)
  })
})

test('each paragraph of a README begins on the side where its script does', async () => {
  await visit(browser, server.url, 'crates/coloured/', async page => {
    const gaps = await page.locator('.readme > p').evaluateAll(all =>
      all.map(element => {
        const range = document.createRange()
        range.selectNodeContents(element)
        return Math.round(range.getBoundingClientRect().left - element.getBoundingClientRect().left)
      }),
    )
    assert.equal(gaps.length, 2)
    assert.ok((gaps[0] ?? 0) > 100, `the first begins on the right: ${gaps[0]}`)
    assert.equal(gaps[1], 0)
  })
})
