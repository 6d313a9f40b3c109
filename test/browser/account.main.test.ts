import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { Cargo } from '../support/cargo.ts'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { none } from '../support/none.ts'
import { writeProject } from '../support/project.ts'
import { checkView, picture } from './browsing.ts'
import { servedRegistry } from './places.ts'

const browser = await launchChromium()
after(() => browser.close())

const PASSWORD = 'a long walk on the pier'
/** As long as a name may be, and nowhere to break. */
const NAME = 'keel'.repeat(16)
/** The registry for Cargo. */
const OURS = ['--registry', 'plimsoll']
const DESKTOP = { width: 1100, height: 900 }

const PRIVATE = { PLIMSOLL_AUTH_REQUIRED: 'true', PLIMSOLL_OWNERS_ADD: 'invite' }

/**
 * A separate browser; any complaint, the Content-Security-Policy's included, fails the test at its
 * end.
 */
async function open(cleanup: Cleanup, options: { javaScript: boolean }): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    viewport: DESKTOP,
    javaScriptEnabled: options.javaScript,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(8000)
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(error.message))
  page.on('console', message => {
    if (!/status of 4\d\d/.test(message.text())) complaints.push(message.text())
  })
  cleanup.add(async () => {
    await context.close()
    assert.deepEqual(complaints, [])
  })
  return page
}

/** Asserts that a page shows the name in a cookie that anybody may set, as text. */
async function checkForged(page: Page, value: string, name: string): Promise<void> {
  const { origin } = new URL(page.url())
  await page.context().addCookies([{ name: 'plimsoll_user', value, url: origin }])
  await page.reload()
  assert.equal(await page.locator('.top nav a').last().innerText(), name)
  assert.equal(await page.locator('.top b').count(), 0)
}

async function choosePassword(page: Page, password: string): Promise<void> {
  await page.fill('input[name=password]', password)
  await page.fill('input[name=again]', password)
  await page.click('button.main')
}

const copied = (page: Page, hasText: string) => page.locator('.copy-block pre', { hasText })
const heading = (page: Page) => page.locator('h1').innerText()

for (const javaScript of [false, true]) {
  test(`from the first login to a revoked token, ${javaScript ? 'with' : 'without'} JavaScript`, async t => {
    const cleanup = new Cleanup(t)
    const { folder, url, operator } = await servedRegistry(cleanup, PRIVATE)
    await operator.add('ada')
    await operator.add('bob')
    const page = await open(cleanup, { javaScript })
    let made: Cargo | null = null
    let pictures = 0
    /** Checks how a page looks, where axe can run. */
    const look = async (page: Page, what: string) => {
      const name = `account-${String(++pictures).padStart(2, '0')}-${what}`
      if (!javaScript) return picture(page, name, { fullPage: true })
      await checkView(page, name)
      await page.setViewportSize(DESKTOP)
      await page.emulateMedia({ colorScheme: 'light' })
    }

    await t.test('a page leads to the login, which says how to get a token', async () => {
      await page.goto(`${url}/crates/keel/`)
      assert.equal(page.url(), `${url}/me?next=%2Fcrates%2Fkeel%2F`)
      assert.equal(await heading(page), 'Log in')
      assert.match(await page.locator('main').innerText(), /cargo login --registry plimsoll/)
      await look(page, 'login')
    })

    await t.test('a one-time link sets the first password, once', async () => {
      const link = await operator.link('ada')
      const asked: Request[] = []
      page.on('request', request => asked.push(request))
      await page.goto(link)
      assert.equal(await heading(page), 'Set your password')
      await choosePassword(page, 'short')
      assert.match(await page.locator('[role=alert]').innerText(), /at least 10 characters/)
      await look(page, 'weak-password')
      await choosePassword(page, PASSWORD)
      assert.deepEqual([page.url(), await heading(page)], [`${url}/me`, 'ada'])
      // Web servers log the `Referer`.
      const headers = await Promise.all(asked.map(request => request.allHeaders()))
      const referrers = headers.map(header => header.referer ?? '')
      assert.ok(referrers.some(referrer => referrer.startsWith(url)))
      none(referrers.filter(referrer => referrer.includes('link=')))
      await page.goto(link)
      assert.match(await page.locator('[role=alert]').innerText(), /this link is not valid/i)
    })

    await t.test('logging out and in again', async () => {
      await page.goto(`${url}/me`)
      await page.click('text=Log out')
      assert.equal(await heading(page), 'Log in')
      await page.fill('input[name=login]', 'ada')
      await page.fill('input[name=password]', `${PASSWORD}!`)
      await page.click('button.main')
      assert.match(
        await page.locator('[role=alert]').innerText(),
        /the username or the password is wrong/i,
      )
      await page.fill('input[name=password]', PASSWORD)
      await page.click('button.main')
      assert.equal(await heading(page), 'ada')
    })

    await t.test('an empty registry has nothing to show', async () => {
      await page.goto(url)
      assert.match(await page.locator('main').innerText(), /No crates yet/)
      await look(page, 'empty-front')
      await page.goto(`${url}/crates/`)
      await look(page, 'empty-list')
      await page.goto(`${url}/me`)
    })

    await t.test('the settings and a token from the page are all that cargo needs', async () => {
      const block = await copied(page, '[registries.').innerText()
      assert.match(block, /^global-credential-providers = \["cargo:token"\]$/m)
      await page.fill('input[name=name]:visible', 'laptop')
      await page.selectOption('select[name=expires]', '30d')
      await page.check('input[value=full]:visible')
      await page.click('text=Create token')
      const token = await copied(page, 'plim_').innerText()
      assert.match(token, /^plim_[0-9A-Za-z]{38}$/)
      await look(page, 'new-token')
      const settings = { registries: {}, cratesIo: 'sparse+http://127.0.0.1:1/', config: block }
      made = new Cargo(join(folder, 'cargo'), { ...settings, tokens: { plimsoll: token } })
      const keel = writeProject(join(folder, 'keel'), { name: NAME })
      await made.ok(keel.folder, 'publish', ...OURS, '--allow-dirty', '--no-verify')
      await page.goto(`${url}/me`)
      const tokens = page.locator('section.part', {
        has: page.locator('h2', { hasText: 'Tokens' }),
      })
      assert.match(await tokens.innerText(), /laptop/)
      assert.doesNotMatch(await tokens.innerText(), /never used|plim_/)
    })

    await t.test('yanking asks first', async () => {
      await page.goto(`${url}/me/crates/${NAME}`)
      assert.match(await page.locator('main').innerText(), /Add another owner before removing ada/)
      await page.click('a:has-text("Yank")')
      assert.equal(await heading(page), `Yank ${NAME} 1.0.0?`)
      await look(page, 'yank-question')
      await page.click('button:has-text("Yank 1.0.0")')
      assert.match(await page.locator('[role=status]').innerText(), /1\.0\.0 is yanked/)
      assert.match(await page.locator('main').innerText(), /yanked/)
      const app = writeProject(join(folder, 'app'), {
        name: 'app',
        toml: `[dependencies]\n${NAME} = { version = "1", registry = "plimsoll" }\n`,
      })
      assert.match((await cargoOf().fails(app.folder, 'check')).stderr, /version 1\.0\.0 is yanked/)
    })

    await t.test('an invitation is accepted in the browser of the invited', async () => {
      const added = await cargoOf().ok(folder, 'owner', ...OURS, '--add', 'bob', NAME)
      assert.match(added.stderr, /invited bob to own `keel/)
      const other = await open(cleanup, { javaScript })
      await other.goto(await operator.link('bob'))
      await choosePassword(other, PASSWORD)
      assert.match(await other.locator('main').innerText(), /ada invites you to own keel/)
      await look(other, 'invitation')
      await other.click('button:has-text("Accept")')
      assert.match(await other.locator('[role=status]').innerText(), /You own keel\S* now/)
      await other.goto(`${url}/me/crates/${NAME}`)
      await other.click('a:has-text("Unyank")')
      await other.click('button:has-text("Unyank 1.0.0")')
      assert.match(await other.locator('[role=status]').innerText(), /no longer yanked/)
      await look(other, 'manage')
    })

    await t.test('a revoked token is rejected', async () => {
      await page.goto(`${url}/me`)
      await page.click('a:has-text("Revoke")')
      assert.equal(await heading(page), 'Revoke the token laptop?')
      await look(page, 'revoke-question')
      await page.click('button:has-text("Revoke the token laptop")')
      assert.match(await page.locator('[role=status]').innerText(), /The token laptop is revoked/)
      await look(page, 'account')
      const refused = await cargoOf().fails(folder, 'owner', ...OURS, '--list', NAME)
      assert.match(refused.stderr, /token rejected for `plimsoll`/)
    })

    await t.test(
      'an administrator adds somebody, locks them out, and reads what happened',
      async () => {
        await operator.promote('ada')
        await page.goto(`${url}/me/admin/users`)
        await page.fill('input[name=login]', 'cy')
        await page.click('button:has-text("Add")')
        const link = await copied(page, '/me/password').innerText()
        assert.match(link, /\/me\/password\?link=[\w-]{43}$/)
        const users = await page.locator('main').innerText()
        assert.deepEqual(new Set(users.match(/\d+ crates?\b/g)), new Set(['1 crate', '0 crates']))
        await look(page, 'users')
        await page.click('a[aria-label="Lock: bob"]')
        assert.equal(await heading(page), 'Lock bob?')
        await look(page, 'lock-question')
        await page.click('button:has-text("Lock bob")')
        assert.match(await page.locator('[role=status]').innerText(), /bob is locked/)
        await page.goto(`${url}/me/admin/audit`)
        const log = await page.locator('main .rows').innerText()
        assert.match(
          log,
          /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\s+ada\b/m,
          'to the second, with a script and without',
        )
        const actions = ['login', 'failed login', 'token create', 'publish', 'yank']
        for (const action of [...actions, 'owner invite', 'user lock'])
          assert.match(log, new RegExp(`\\b${action}\\b`))
        assert.doesNotMatch(log, /plim_|pier/)
        await look(page, 'audit')
        await page.selectOption('select[name=action]', 'yank')
        await page.click('button:has-text("Filter")')
        assert.match(await page.locator('main .rows').innerText(), /^[^\n]+\n+ada\s+yank\s+keel/)
        await page.click('text=Status')
        assert.match(await page.locator('main').innerText(), /Plimsoll\s+\d[\s\S]*Pending work/)
        await page.click('text=Refresh')
        assert.equal(await heading(page), 'Status')
        await look(page, 'status')
        await page.goto(`${url}/crates/${NAME}/`)
        const name = javaScript ? 'ada' : 'Account'
        assert.equal(await page.locator('.top nav a').last().innerText(), name)
        if (javaScript) {
          await checkForged(page, '%3Cb%3Ex%3C/b%3E', '<b>x</b>')
          await checkForged(page, '100%', '100%')
          await checkForged(page, 'w'.repeat(3000), 'w'.repeat(40))
        }
        // The session opens the package, too.
        await page.click('.links >> text=Source')
        await page.locator(`[data-checksum=${javaScript ? 'verified' : 'unchecked'}]`).waitFor()
        if (javaScript) assert.equal(await page.locator('.file-name').innerText(), 'src/lib.rs')
      },
    )

    function cargoOf(): Cargo {
      return made ?? assert.fail('there is no cargo before there is a token')
    }
  })
}
