import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { timestamp } from '../../core/timestamp.ts'
import { run } from '../../generator/database/statement.ts'
import { openRegistry } from '../../generator/open.ts'
import { Cargo } from '../support/cargo.ts'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { startCompany } from '../support/company.ts'
import { freePort } from '../support/loopback.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { writeProject } from '../support/project.ts'
import { scratch } from '../support/scratch.ts'
import { checkView, picture } from './browsing.ts'

const browser = await launchChromium()
after(() => browser.close())

const OURS = ['--registry', 'plimsoll']

const heading = (page: Page) => page.locator('h1').innerText()
const copied = (page: Page, hasText: string) => page.locator('.copy-block pre', { hasText })

test('a new colleague logs in, publishes and leaves', async t => {
  const cleanup = new Cleanup(t)
  const parent = scratch(cleanup)
  const folder = join(parent, 'registry')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const company = await startCompany(cleanup, url)
  company.people.set('e-1007', {
    sub: 'e-1007',
    preferred_username: 'ada@acme.test',
    name: 'Ada L.',
    groups: ['rust'],
  })
  mkdirSync(folder)
  writeFileSync(join(parent, 'secret'), 'a secret: with %, + and /\n')
  writeFileSync(
    join(folder, 'plimsoll.toml'),
    `[registry]
base_url = "${url}"
[auth]
required = true
passwords = "off"
[oidc.company]
issuer = "${company.issuer}"
client_id = "plimsoll"
client_secret_file = "${join(parent, 'secret')}"
title = "Acme"
`,
  )
  const daemon = await serve(cleanup, folder, {}, undefined, `127.0.0.1:${port}`)
  const operator = async (...args: string[]) => {
    const { stdout } = await plimsoll(folder, [...args, '--dir', folder])
    return stdout.trim()
  }
  // No `admin`, and no token that somebody finds in a log.
  assert.match(daemon.log(), /There are no users yet, and no passwords\. Members of `admin_groups`/)
  assert.doesNotMatch(daemon.log(), /plim_/)
  /** A separate browser. */
  const visit = async () => {
    const context = await browser.newContext({ viewport: { width: 1100, height: 900 } })
    cleanup.add(() => context.close())
    const opened = await context.newPage()
    opened.setDefaultTimeout(8000)
    return opened
  }
  /** The only way in leads to the issuer at once. */
  const logIn = async (visitor: Page, id: string, path = '/me') => {
    await visitor.goto(`${url}${path}`)
    assert.equal(new URL(visitor.url()).origin, company.issuer)
    await visitor.fill('input[name=login]', id)
    await visitor.fill('input[name=password]', 'any')
    await visitor.click('button[type=submit]')
  }
  const page = await visit()
  await logIn(page, 'e-1007', '/crates/')
  await page.waitForURL(`${url}/crates/`)
  await page.goto(`${url}/me`)
  assert.equal(await heading(page), 'ada')
  await picture(page, 'oidc-01-account', { fullPage: true })
  const block = await copied(page, '[registries.').innerText()
  await page.click('text=Get a token for this machine')
  const token = await copied(page, 'plim_').innerText()
  await picture(page, 'oidc-02-token', { fullPage: true })
  const settings = { registries: {}, cratesIo: 'sparse+http://127.0.0.1:1/', config: block }
  const cargo = new Cargo(join(parent, 'cargo'), { ...settings, tokens: { plimsoll: token } })
  const keel = writeProject(join(parent, 'keel'), { name: 'keel' })
  await cargo.ok(keel.folder, 'publish', ...OURS, '--allow-dirty', '--no-verify')
  // Owner through a group: the operator's crate.
  await operator('user', 'add', 'root', '--admin')
  const dock = writeProject(join(parent, 'dock'), { name: 'dock' })
  const operators = await operator('token', 'create', '--user', 'root')
  const root = new Cargo(join(parent, 'root'), { ...settings, tokens: { plimsoll: operators } })
  await root.ok(dock.folder, 'publish', ...OURS, '--allow-dirty', '--no-verify')
  const added = await root.ok(parent, 'owner', ...OURS, '--add', 'group:rust', 'dock')
  assert.match(added.stderr, /group:rust now owns `dock`/)
  const listed = await cargo.ok(parent, 'owner', ...OURS, '--list', 'dock')
  assert.match(listed.stdout, /^root\ngroup:rust$/m)
  const next = writeProject(join(parent, 'dock2'), { name: 'dock', version: '1.1.0' })
  await cargo.ok(next.folder, 'publish', ...OURS, '--allow-dirty', '--no-verify')
  await page.goto(`${url}/me`)
  assert.match(await page.locator('main').innerText(), /dock through group:rust/)
  await checkView(page, 'oidc-03-member')

  // She leaves: the issuer knows her no more, and within `token_days` nothing answers her.
  company.people.delete('e-1007')
  const registry = await openRegistry(folder, { env: {} })
  const leave = 'UPDATE identities SET logged_in_at = ?'
  await run(registry.database, leave, timestamp(new Date(), -31 * 86_400))
  await registry.close()
  const refusal = `log in once at ${url}/me, then try again`
  const refused = await cargo.fails(next.folder, 'yank', ...OURS, 'dock@1.1.0')
  assert.ok(refused.stderr.includes(refusal), refused.stderr)
  await page.goto(`${url}/me`)
  assert.equal(new URL(page.url()).origin, company.issuer)
  assert.match(await operator('user', 'list'), /^ada +user +login due/m)

  // Somebody else is locked here, and can do nothing at once.
  company.people.set('e-2', { sub: 'e-2', preferred_username: 'ben', groups: ['rust'] })
  const ben = await visit()
  await logIn(ben, 'e-2')
  await ben.waitForURL(`${url}/me`)
  await ben.click('text=Get a token for this machine')
  const tokens = { plimsoll: await copied(ben, 'plim_').innerText() }
  const his = new Cargo(join(parent, 'ben'), { ...settings, tokens })
  await his.ok(next.folder, 'yank', ...OURS, 'dock@1.1.0')
  await operator('user', 'lock', 'ben')
  const locked = await his.fails(next.folder, 'yank', ...OURS, '--undo', 'dock@1.1.0')
  assert.match(locked.stderr, /account is locked/)
  await ben.goto(`${url}/me`)
  // The company still knows him, so he comes back at once; here he stays locked.
  await ben.waitForURL(/\/me\/oidc\/company\/callback/)
  assert.match(await ben.locator('[role=alert]').innerText(), /The account is locked here/)
  await checkView(ben, 'oidc-04-locked')

  // The operator comes in by a link, without the issuer.
  const admin = await visit()
  await admin.goto(await operator('user', 'link', 'root'))
  await checkView(admin, 'oidc-05-link')
  await admin.click('button:has-text("Log in")')
  assert.equal(await heading(admin), 'root')
  await admin.goto(`${url}/me/admin/users`)
  await checkView(admin, 'oidc-06-users')
})
