import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { Cargo } from '../support/cargo.ts'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { startCompany } from '../support/company.ts'
import { freePort } from '../support/loopback.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { writeProject } from '../support/project.ts'
import { scratch } from '../support/scratch.ts'
import { picture } from './browsing.ts'

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
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } })
  cleanup.add(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(8000)

  await page.goto(`${url}/crates/`)
  // The only way leads there at once.
  assert.equal(new URL(page.url()).origin, company.issuer)
  await page.fill('input[name=login]', 'e-1007')
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.waitForURL(`${url}/crates/`)
  await page.goto(`${url}/me`)
  assert.equal(await heading(page), 'ada')
  await picture(page, 'oidc-01-account', { fullPage: true })
  const block = await copied(page, '[registries.').innerText()
  await page.click('text=Get a token for this machine')
  const token = await copied(page, 'plim_').innerText()
  await picture(page, 'oidc-02-token', { fullPage: true })
  const cargo = new Cargo(join(parent, 'cargo'), {
    registries: {},
    cratesIo: 'sparse+http://127.0.0.1:1/',
    config: block,
    tokens: { plimsoll: token },
  })
  const keel = writeProject(join(parent, 'keel'), { name: 'keel' })
  await cargo.ok(keel.folder, 'publish', ...OURS, '--allow-dirty', '--no-verify')
  assert.match(await operator('owner', 'list', 'keel'), /ada/)
  void daemon
})
