// Mirrors site/: every kind of page, with all that it may show
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { rustSecFile } from '../support/advisories.ts'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { startCompany } from '../support/company.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { harbour, writeCrates } from '../support/harbour.ts'
import { closeServer, freePort, listen } from '../support/loopback.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'
import { checkPage, PHONE, picture } from './browsing.ts'

const browser = await launchChromium()
after(() => browser.close())

const PASSWORD = 'a long walk on the pier'

/** The kinds of files that the public tree has for browsers, each with one of them. */
const PUBLIC: readonly (readonly [RegExp, example: string])[] = [
  [/^$/, ''],
  [/^404\.html$/, '404.html'],
  [/^api\/$/, 'api/'],
  [/^crates\/$/, 'crates/'],
  [/^lists\/.*$/, 'lists/newest.html'],
  [/^categories\/$/, 'categories/'],
  [/^categories\/.+$/, 'categories/command-line-interface/'],
  [/^keywords\/$/, 'keywords/'],
  [/^keywords\/.+$/, 'keywords/cli/'],
  [/^search\/$/, 'search/'],
  [/^dependents\/[^/]+\/$/, 'dependents/keel/'],
  [/^statistics\/$/, 'statistics/'],
  [/^users\/.*$/, 'users/root/'],
  [/^crates\/[^/]+\/latest\/$/, ''],
  [/^crates\/[^/]+\/compare\/$/, 'crates/keel/compare/#1.3.2...1.4.0'],
  [/^crates\/[^/]+\/versions\/$/, 'crates/rope/versions/'],
  [/^crates\/[^/]+\/[^/]+\/src\/$/, 'crates/keel/1.4.0/src/#src/lib.rs:L3-L4'],
  [/^crates\/[^/]+\/[^/]+\/changes\/$/, 'crates/keel/1.4.0/changes/'],
  [/^crates\/[^/]+\/[^/]+\/$/, 'crates/keel/1.3.1/'],
  [/^crates\/[^/]+\/$/, 'crates/keel/'],
]

/** Other views of these pages, and pages that the daemon makes. */
const MORE = [
  ...['versions', 'dependencies', 'features', 'changes', 'dependents'].map(
    tab => `crates/keel/#${tab}`,
  ),
  'crates/hostile/',
  'crates/hostile/#dependencies',
  'crates/bosun/',
  'crates/keel/1.4.0/#dependencies',
  'crates/keel/1.4.0/src/#README.md',
  'crates/keel/1.4.0/src/#none',
  'search/?q=billing',
  'search/?q=tool&license=MIT&sort=name',
  'search/?q=zzzz',
  'crates/none/',
  'crates/keel/9.9.9/',
  'crates/keel/compare/?from=1.3.0&to=1.4.0',
  'upstream/up/',
  'upstream/up/?crate=demo',
]

/** What an administrator sees, who owns `keel`. */
const OWN = [
  'me',
  'me/none',
  'me/tokens/:token/revoke',
  'me/sessions/:session/end',
  'me/sessions/end',
  'me/invitations/bosun/decline',
  'me/crates/keel',
  'me/crates/bosun',
  'me/crates/none',
  'me/crates/keel/yank?version=1.4.0',
  'me/crates/keel/unyank?version=1.3.1',
  'me/crates/keel/undeprecate?requirement=%3C1',
  'me/crates/keel/owners/remove?login=ada',
  'me/crates/keel/trust/only',
  'me/crates/keel/trust/remove?id=1',
  'me/admin/trust',
  'me/admin/trust/only?crate=acme-*',
  'me/admin/trust/remove?id=2',
  'me/admin/users',
  'me/admin/users?q=zzzz',
  ...['lock', 'promote', 'reset'].map(action => `me/admin/users/ada/${action}`),
  'me/admin/audit',
  'me/admin/audit?action=yank',
  'me/admin/status',
  'me/admin/upstream/up',
  'me/admin/upstream/up/hold?crate=keel&version=1.0.0',
]

/** What nobody needs to log in for. */
const STRANGERS = [
  'me/login',
  'me/password',
  'me/password?link=x',
  'me/oidc/none',
  'me/oidc/company/callback?code=x&state=y',
]

/** Looks at an open page wide and on a phone, in the light and in the dark. */
async function checkAll(page: Page, path: string): Promise<string[]> {
  const findings: string[] = []
  for (const width of [1280, PHONE.viewport.width])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      // Where it was scrolled to in another width, something may lie below the tabs.
      await page.evaluate(() => scrollTo(0, 0))
      const what = `${path} ${width} ${colorScheme}`
      await checkPage(page).catch((error: Error) => findings.push(`${what}: ${error.message}`))
      const isShown = (width === 1280) === (colorScheme === 'light')
      if (isShown)
        await picture(page, `every-${path.replaceAll(/[^\w.-]/g, '-')}-${width}`, {
          fullPage: true,
        })
    }
  return findings
}

async function visit(browser: Browser) {
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  return page
}

test('axe finds nothing on any kind of page, wide and on a phone, light and dark', async t => {
  const cleanup = new Cleanup(t)
  const parent = scratch(cleanup)
  const [folder, from, port] = [join(parent, 'registry'), join(parent, 'from'), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const company = await startCompany(cleanup, url)
  const receiver = createServer((_, response) => response.writeHead(500).end())
  const webhook = await listen(receiver)
  cleanup.add(() => closeServer(receiver))
  writeFileSync(join(parent, 'oidc'), 'a secret: with %, + and /\n')
  writeFileSync(join(parent, 'hook'), `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`)
  const env = {
    PLIMSOLL_UPSTREAM_UP_INDEX: 'sparse+http://127.0.0.1:9/',
    PLIMSOLL_UPSTREAM_UP_OFFLINE: 'true',
    PLIMSOLL_REGISTRY_BASE_URL: url,
    PLIMSOLL_GIT_INDEX: 'off',
    PLIMSOLL_AUTH_PASSWORD_COST: '14',
    PLIMSOLL_OWNERS_ADD: 'invite',
    PLIMSOLL_OIDC_COMPANY_ISSUER: company.issuer,
    PLIMSOLL_OIDC_COMPANY_CLIENT_ID: 'plimsoll',
    PLIMSOLL_OIDC_COMPANY_CLIENT_SECRET_FILE: join(parent, 'oidc'),
    PLIMSOLL_OIDC_COMPANY_TITLE: 'Acme',
    PLIMSOLL_ISSUER_GITHUB_KIND: 'github',
    PLIMSOLL_WEBHOOK_OPS_URL: webhook,
    PLIMSOLL_WEBHOOK_OPS_SECRET_FILE: join(parent, 'hook'),
    PLIMSOLL_WEBHOOK_OPS_PRIVATE: 'true',
  }
  const operator = async (...args: string[]) => {
    const { code, stdout, stderr } = await plimsoll(parent, [...args, '--dir', folder], env)
    assert.equal(code, 0, stderr)
    return stdout.trim()
  }
  const ropes = Array.from({ length: 101 }, (_, at) => {
    const [name, version] = ['rope', `0.${at}.0`]
    const bytes = buildCrate({ name, version })
    return { name, version, bytes, at: '2026-01-01T00:00:00Z', by: 'ada' }
  })
  mkdirSync(folder)
  await operator('init')
  writeCrates(from, [...harbour(`sparse+${url}/index/`), ...ropes], url)
  await operator('add', from)
  for (const login of ['ada', 'ben', 'cy']) await operator('user', 'add', login)
  await operator('user', 'add', 'root', '--admin')
  await operator('user', 'lock', 'cy')
  await operator('group', 'add', 'rust', 'ben')
  for (const owner of ['root', 'ada', 'group:rust']) await operator('owner', 'add', 'keel', owner)
  await operator('owner', 'add', 'bosun', 'ada')
  await operator('yank', 'keel@1.3.1', '--reason', 'it <b>leaks</b> `memory`')
  await operator('yank', 'rope@0.3.0')
  await operator('deprecate', 'bosun', '--reason', 'nobody maintains it', '--use', 'keel')
  await operator('deprecate', 'keel@<1', '--reason', 'it is slow', '--use', 'https://a.example/')
  const rule = ['--issuer', 'github', '--claim', 'repository=acme/keel', 'repository_id=1']
  await operator('trust', 'add', 'keel', ...rule, 'repository_owner_id=2', 'workflow=release.yml')
  await operator('trust', 'add', 'acme-*', ...rule, 'repository_owner_id=2', '--owner', 'ada')
  await operator('trust', 'only', 'acme-*')
  const advisories = join(parent, 'advisories')
  mkdirSync(advisories)
  const more = `source = "sparse+${url}/index/"\naliases = ["CVE-2026-1"]`
  const hole = rustSecFile({ name: 'keel', patched: ['>= 1.4.0'], more })
  writeFileSync(join(advisories, 'RUSTSEC-2026-0001.md'), hole)
  await operator('advisories', 'update', advisories)
  await serve(cleanup, folder, env, undefined, `127.0.0.1:${port}`)
  const page = await visit(browser)
  cleanup.add(() => page.context().close())
  const findings: string[] = []
  const look = async (path: string) => {
    await page.goto(`${url}/${path}`, { waitUntil: 'load' })
    findings.push(...(await checkAll(page, path)))
  }
  for (const path of STRANGERS) await look(path)
  await page.goto(await operator('user', 'link', 'ada'))
  await page.fill('input[name=password]', PASSWORD)
  await page.fill('input[name=again]', PASSWORD)
  findings.push(...(await checkAll(page, 'me/password')))
  await page.click('button.main')
  await page.goto(`${url}/me/crates/bosun`)
  await page.fill('input[name=login]', 'root')
  await page.click('button:has-text("Add")')
  findings.push(...(await checkAll(page, 'me/crates/bosun, invited')))
  await page.goto(`${url}/me/crates/bosun`)
  await page.click('a[href*="/yank?"]')
  await page.fill('input[name=reason]', 'it is broken')
  await page.click('button:has-text("Yank")')
  await page.context().clearCookies()

  await page.goto(await operator('user', 'link', 'root'))
  await page.fill('input[name=password]', PASSWORD)
  await page.fill('input[name=again]', PASSWORD)
  await page.click('button.main')
  const other = await visit(browser)
  cleanup.add(() => other.context().close())
  await other.goto(`${url}/me/login`)
  await other.fill('input[name=login]', 'root')
  await other.fill('input[name=password]', PASSWORD)
  await other.click('button.main')
  await page.reload()
  await page.fill('input[name=name]:visible', 'laptop')
  await page.click('text=Create token')
  findings.push(...(await checkAll(page, 'me/tokens')))
  await page.goto(`${url}/me`)
  const hrefs = await page.locator('a').evaluateAll(all => all.map(a => a.getAttribute('href')))
  const found = (part: string) =>
    hrefs.find(href => href?.match(`/me/${part}/[0-9]+/`))?.split('/')[3] ?? assert.fail(part)
  assert.ok(hrefs.includes('/me/invitations/bosun/decline'))
  await until(
    async () => /webhook/i.test(await (await page.request.get(`${url}/me/admin/status`)).text()),
    () => 'no webhook was told',
  )
  for (const path of OWN)
    await look(path.replace(':token', found('tokens')).replace(':session', found('sessions')))
  for (const path of [...PUBLIC.map(([, example]) => example), ...MORE]) await look(path)
  assert.equal(findings.join('\n\n'), '')

  const files = readdirSync(join(folder, 'public'), { recursive: true }).map(String)
  const pages = files.filter(file => file.endsWith('.html'))
  const kinds = PUBLIC.map(([kind]) => kind)
  const address = (file: string) => file.replace(/(^|\/)index\.html$/, '$1')
  assert.deepEqual(
    pages.map(address).filter(file => !kinds.some(kind => kind.test(file))),
    [],
    'each kind of file is known',
  )
  const visited = new Set([...OWN, ...STRANGERS].map(path => shapeOf(`/${path}`)))
  // A test of the routes prints the requests of all of them there.
  const documents = readFileSync('docs/run/access.md', 'utf8')
  const routes = [...documents.matchAll(/^\| `GET (\/me(?:\/[^`]*)?)`/gm)].map(
    ([, path = '']) => path,
  )
  assert.ok(routes.length > 20)
  const missing = routes.map(shapeOf).filter(shape => !visited.has(shape))
  assert.deepEqual(missing, [], 'each route is visited')
})

/** Returns the address of a page without the names in it. */
function shapeOf(path: string): string {
  const names = /(?<=\/(?:tokens|sessions|invitations|crates|users|upstream|oidc)\/)[^/]+/
  const actions =
    /(?<=\/trust\/|\/:\/)(?!trust|owners|yank|unyank|end|callback|decline|revoke|undeprecate).+/
  return path.replace(/\?.*/, '').replace(names, ':').replace(actions, ':')
}
