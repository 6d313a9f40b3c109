import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { cratePage, type SiteFacts } from '../../site/index.ts'
import { launchChromium } from '../support/chromium.ts'
import { crate, fleet, keel, version } from '../support/demo-facts.ts'
import { demoAccount, demoFacts, demoSite, writeSite } from '../support/demo-site.ts'
import { hostile, PAYLOADS } from '../support/hostile.ts'
import { type FileServer, serveFiles } from '../support/static-server.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const long = crate(
  version({
    name: 'long-readme',
    readme: {
      text: `# Long\n\n${Array.from({ length: 400 }, (_, at) => `## Part ${at}\n\nText of \`part${at}\`.\n\n\`\`\`rust\nfn part${at}() {}\n\`\`\`\n`).join('\n')}`,
      path: 'README.md',
    },
  }),
)

let folder: string
let server: FileServer
let browser: Browser
let site: SiteFacts

before(async () => {
  browser = await launchChromium()
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-site-'))
  server = await serveFiles(folder, '/sub/path')
  site = demoFacts(server.url)
  writeSite(folder, demoSite(site, [keel, ...fleet, hostile, long]))
  writeSite(folder, demoAccount(site, [keel]))
  writeSite(
    folder,
    PAYLOADS.map((text, at) =>
      cratePage(site, crate(version({ name: `payload-${at}`, readme: { text, path: 'README.md' } }))),
    ),
  )
  writeSite(join(folder, 'empty'), demoSite(demoFacts(`${server.url}/empty`), []))
})

after(async () => {
  await browser?.close()
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens a page, lets `work` look at it, and finds no complaint of the browser and no request to another host. */
async function visit(
  path: string,
  work: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  try {
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    page.on('request', request => {
      if (!request.url().startsWith(server.url)) complaints.push(`a request to ${request.url()}`)
    })
    await page.goto(`${server.url}/${path}`, { waitUntil: 'load' })
    await work(page)
    assert.deepEqual(complaints, [])
  } finally {
    await context.close()
  }
}

const PHONE = { viewport: { width: 390, height: 844 } }
const pages: [what: string, path: string][] = [
  ['front page', ''],
  ['crate', 'crates/keel/'],
  ['versions', 'crates/keel/#versions'],
  ['dependencies', 'crates/keel/#dependencies'],
  ['features', 'crates/keel/#features'],
  ['changes', 'crates/keel/#changes'],
  ['dependents', 'crates/keel/#dependents'],
  ['version', 'crates/keel/1.4.0/'],
  ['source tree', 'crates/keel/1.4.0/src/'],
  ['source file', 'crates/keel/1.4.0/src/src/lib.rs.html#L3-L4'],
  ['list of crates', 'crates/'],
  ['search', 'search/?q=billing'],
  ['search as a server answers it', 'search/results.html'],
  ['nothing here', '404.html'],
  ['hostile crate', 'crates/hostile/'],
  ['hostile dependencies', 'crates/hostile/#dependencies'],
  ['long README', 'crates/long-readme/'],
  ['empty registry', 'empty/'],
  ['empty list', 'empty/crates/'],
  ['login', 'me/login.html'],
  ['account', 'me.html'],
  ['manage', 'me/crates/keel.html'],
  ['question before a yank', 'me/crates/keel/yank.html'],
  ['users', 'me/admin/users.html'],
  ['audit log', 'me/admin/audit.html'],
]
for (const [what, path] of pages) {
  for (const [way, options] of [
    ['', {}],
    [' in the dark on a phone', { ...PHONE, colorScheme: 'dark' }],
  ] as const) {
    test(`${what}${way}: axe finds nothing serious, nothing sticks out`, async () => {
      await visit(
        path,
        async page => {
          await page.waitForTimeout(50)
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
          assert.ok(wide <= 0, `${wide} pixels too wide`)
          await page.evaluate(axe)
          const found = await page.evaluate(async () => {
            const { axe } = window as unknown as {
              axe: {
                run(): Promise<{
                  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
                }>
              }
            }
            const { violations } = await axe.run()
            return violations.map(
              ({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`,
            )
          })
          assert.deepEqual(
            found.filter(one => /^(serious|critical)/.test(one)),
            [],
          )
        },
        options,
      )
    })
  }
}

test('a page works without JavaScript', async () => {
  const off = { javaScriptEnabled: false }
  await visit(
    'crates/keel/',
    async page => {
      assert.equal(await page.locator('#readme').isVisible(), true)
      assert.equal(await page.locator('#versions').isVisible(), false)
      await page.locator('.tabs a', { hasText: 'Versions' }).click()
      assert.equal(await page.locator('#versions').isVisible(), true)
      assert.equal(await page.locator('#readme').isVisible(), false)
      assert.equal(await page.locator('#versions time').first().textContent(), '2 Nov 2026')
      assert.equal(await page.locator('button[data-copy]:visible, .filter:visible').count(), 0)
      await page.goto(`${server.url}/crates/keel/#user-content-errors`)
      assert.equal(await page.locator('#readme').isVisible(), true)
    },
    off,
  )
  await visit(
    'search/?q=x',
    async page => {
      assert.match((await page.locator('main').textContent()) ?? '', /takes JavaScript.*list of all crates/s)
    },
    off,
  )
})

test('dates become relative, and the filter finds versions', async () => {
  await visit('crates/keel/#versions', async page => {
    const time = page.locator('#versions time').first()
    assert.match((await time.textContent()) ?? '', / ago$|yesterday|last|just now|^in /)
    assert.equal(await time.getAttribute('title'), '2026-11-02 09:30:00 UTC')
    assert.equal(await page.locator('.tabs [aria-current]').textContent(), 'Versions 9')
    await page.locator('.filter input').fill('1.3 YANKED')
    assert.deepEqual(await page.locator('#version-rows tr:visible a').allTextContents(), ['1.3.1'])
    assert.equal(await page.locator('.filter output').textContent(), '1 of 9')
  })
})

test('a copy button copies', async () => {
  await visit('crates/keel/', async page => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('.install .copy').nth(1).click()
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'cargo add keel --registry harbour')
  })
})

for (const key of ['/', 's']) {
  test(`${key} goes to the search box, and the search answers while one types`, async () => {
    await visit('crates/', async page => {
      await page.keyboard.press(key)
      await page.waitForFunction(() => document.querySelector('[role=combobox]') !== null)
      await page.keyboard.type('bos')
      await page.locator('[role=option]').first().waitFor()
      assert.match((await page.locator('[role=option]').first().textContent()) ?? '', /^bosun 0\.7\.12/)
      await page.evaluate(axe)
      await page.keyboard.press('ArrowDown')
      assert.equal(await page.locator('[role=option][aria-selected=true]').count(), 1)
      await page.keyboard.press('Enter')
      await page.waitForURL('**/crates/bosun/')
    })
  })
}

test('Escape closes the list, Enter alone goes to the results', async () => {
  await visit('', async page => {
    await page.locator('input[name=q]').click()
    await page.keyboard.type('billing')
    await page.locator('[role=option]').first().waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('[role=option]:visible').count(), 0)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/search/?q=billing')
    await page.locator('.card').first().waitFor()
    assert.match((await page.locator('[data-status]').textContent()) ?? '', /^6 crates for “billing”$/)
    assert.equal((await page.locator('.card strong').allTextContents()).at(-1), 'ballast')
    assert.equal(await page.locator('input[name=q]').inputValue(), 'billing')
  })
})

test('a query is text, whatever it says', async () => {
  await visit(`search/?q=${encodeURIComponent('<b onclick=__hit=1>none</b>')}`, async page => {
    await page.locator('[data-status]', { hasText: 'No crate' }).waitFor()
    assert.equal(await page.evaluate('typeof __hit'), 'undefined')
  })
})

test('an address names lines of a file', async () => {
  await visit('crates/keel/1.4.0/src/src/lib.rs.html#L5-L7', async page => {
    assert.equal(await page.locator('.marked').count(), 3)
    assert.match((await page.locator('.marked').first().textContent()) ?? '', /^5pub fn double/)
    await page.locator('#L2').click()
    assert.equal(await page.locator('.marked').count(), 1)
  })
})

for (const [at, payload] of [...PAYLOADS.entries(), ['all', 'all of them'] as const]) {
  test(`in a browser, harmless: ${JSON.stringify(payload.slice(0, 60))}`, async () => {
    await visit(`crates/${at === 'all' ? 'hostile' : `payload-${at}`}/`, async page => {
      for (const link of await page.locator('.readme a').all()) {
        const href = (await link.getAttribute('href')) ?? '#'
        assert.match(href, /^(https?:|mailto:|#user-content-)/)
      }
      assert.equal(await page.evaluate('typeof __hit'), 'undefined')
      assert.equal(await page.locator('body > main > .crate .side').count(), 1)
      assert.equal(
        await page
          .locator('.readme :is(script, style, iframe, object, embed, form, svg, math, base, link, meta, video)')
          .count(),
        0,
      )
    })
  })
}
