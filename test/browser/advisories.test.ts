import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { rustSecFile } from '../support/advisories.ts'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { plimsoll } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'
import { serveFiles } from '../support/static-server.ts'
import { checkView, visit } from './browsing.ts'

const browser = await launchChromium()
after(() => browser.close())

const LONG = 'a-word-that-is-far-too-long-for-the-window-of-any-phone-'.repeat(3)

test('advisories on the pages of a crate and its versions, wide and on a phone', async t => {
  const cleanup = new Cleanup(t)
  const [from, out] = [scratch(cleanup), scratch(cleanup)]
  const server = await serveFiles(out)
  cleanup.add(() => server.close())
  const source = `source = "sparse+${server.url}/index/"`
  for (const version of ['1.0.0', '1.1.0', '1.2.0'])
    writeFileSync(join(from, `demo-${version}.crate`), buildCrate({ name: 'demo', version }))
  mkdirSync(join(from, 'advisories'))
  const holes = [
    {
      id: 'ACME-2026-0001',
      title: 'Reads too far when a length is not what it says',
      patched: ['>= 1.1.0'],
      more: `${source}
url = "https://holes.example/1"
aliases = ["CVE-2026-1234", "GHSA-aaaa-bbbb-cccc"]
cvss = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"
[affected]
functions = { "demo::${LONG.replaceAll('-', '_')}" = ["< 1.1.0"] }`,
    },
    { id: 'ACME-2026-0002', title: LONG, more: source, patched: ['>= 1.2.0'] },
    {
      id: 'ACME-2026-0003',
      title: 'Nobody works on it',
      more: `${source}\ninformational = "unmaintained"`,
    },
  ]
  for (const hole of holes)
    writeFileSync(join(from, 'advisories', `${hole.id}.md`), rustSecFile(hole))
  const args = ['build', '--from', from, '--out', out, '--base-url', server.url]
  const { code, stderr } = await plimsoll(out, args)
  assert.equal(code, 0, stderr)
  for (const [path, count] of [
    ['crates/demo/', 1],
    ['crates/demo/1.0.0/', 3],
  ] as const)
    await visit(browser, server.url, path, async page => {
      const notices = page.locator('.crate-head div.notice')
      assert.equal(await notices.count(), count)
      await notices.last().locator('summary').click()
      assert.match(await notices.last().innerText(), /What the hole does\./)
      await checkView(page, `advisories-${count}`)
    })
  await visit(browser, server.url, 'crates/demo/#versions', async page => {
    const rows = await page.locator('#version-rows th').allInnerTexts()
    assert.deepEqual(rows, ['1.2.0 unmaintained', '1.1.0 vulnerable', '1.0.0 vulnerable'])
    await checkView(page, 'advisories-versions')
  })
  await visit(browser, server.url, 'search/?advisory=CVE-2026-1234', async page => {
    await page.locator('a.card', { hasText: 'demo' }).waitFor()
    await checkView(page, 'advisories-search')
  })
})
