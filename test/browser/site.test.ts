import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { cratePage } from '../../site/crate/page.ts'
import { assets } from '../../site/layout/assets.ts'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { crate, demoFacts, readme, version } from '../support/demo-facts.ts'
import { hostile, PAYLOADS } from '../support/hostile.ts'
import { type FileServer, serveFiles } from '../support/static-server.ts'
import { checkView, visit } from './browsing.ts'

const cleanup = new Cleanup({ after })
let server: FileServer
let browser: Browser
const long = crate(version({ name: 'a'.repeat(64), version: `1.0.0-${'b'.repeat(64)}` }))
const COLOURED = '> [!TIP]\n> a\n\n> [!WARNING]\n> b\n\nمرحبا بالعالم 1.0\n\nleft\n'

before(async () => {
  browser = await launchChromium()
  const files = new Map<string, Uint8Array>()
  server = await serveFiles(files, '/sub/path')
  cleanup.add(() => server.close())
  const withReadme = (name: string, text: string) => crate(version({ name, readme: readme(text) }))
  const crates = [
    ...[hostile, long, withReadme('coloured', COLOURED)],
    ...PAYLOADS.map((text, at) => withReadme(`payload-${at}`, text)),
  ]
  const site = demoFacts(server.url)
  const pages = crates.map(data => cratePage(site, data))
  for (const { path, bytes } of [...assets, ...pages]) files.set(path, bytes)
})
after(() => browser?.close())

const views: readonly (readonly [what: string, path: string])[] = [
  ['hostile facts', 'crates/hostile/'],
  ['hostile dependencies', 'crates/hostile/#dependencies'],
  ['long name', `crates/${long.name}/`],
]
for (const [what, path] of views) {
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
