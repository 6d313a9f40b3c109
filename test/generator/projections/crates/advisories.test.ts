import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeAdvisories } from '../../../../generator/advisories/update.ts'
import { operatorChange } from '../../../../generator/records/change.ts'
import { sandbox } from '../../../../generator/sandbox/sandbox.ts'
import { rustSecFile } from '../../../support/advisories.ts'
import { TestRegistry } from '../../../support/registry.ts'
import { BASE } from '../../../support/release.ts'

const AT = '2026-11-20T12:00:00Z'
const PAGES = [
  'index.html',
  '1.0.0/index.html',
  '1.1.0/index.html',
  '2.0.0/index.html',
  'crate.json',
  'feed.xml',
].map(path => `crates/demo/${path}`)

const HOLE = rustSecFile({
  id: 'ACME-2026-0001',
  title: 'Reads <b>too</b>\u202e far',
  patched: ['>= 1.1.0, < 2.0.0-a', '>= 2.0.1'],
  more: `source = "sparse+${BASE}/index/"
url = "https://holes.example/1?a=1&b=2"
aliases = ["CVE-2026-1234"]
cvss = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"
[affected]
os = ["linux"]
functions = { "demo::read" = ["< 1.1.0"] }`,
}).replace(
  'What **',
  '## Readme\n\n<script>alert(1)</script>\n\n![x](https://holes.example/x.png) What **',
)

const OLD = rustSecFile({
  id: 'ACME-2026-0002',
  title: 'Nobody works on it',
  more: `source = "sparse+${BASE}/index/"\ninformational = "unmaintained"`,
})

test('pages, record and feed tell of what covers a version, and are as before when it is gone', async t => {
  const app = await TestRegistry.open(t)
  const token = await app.user('alice')
  for (const version of ['1.0.0', '1.1.0', '2.0.0'])
    await app.publish(token, { name: 'demo', version, files: { 'README.md': '## Readme\n' } })
  const take = async (files: Readonly<Record<string, string>>) => {
    const folder = join(app.dir, 'advisories')
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
    assert.deepEqual(await takeAdvisories(app.registry, operatorChange(AT)), [])
    await app.indexWorker.settle()
    await app.indexWorker.pages.flush()
    return Promise.all(PAGES.map(path => app.text(path)))
  }
  const before = await take({})
  const [crate, first, second, , record, feed] = await take({ 'a.md': HOLE, 'b.md': OLD })

  assert.match(
    first ?? '',
    /<span class="badge bad" title="ACME-2026-0001, ACME-2026-0002">vulnerable</,
  )
  assert.match(
    first ?? '',
    /<a href="https:\/\/holes\.example\/1\?a=1&amp;b=2" rel="[^"]*">ACME-2026-0001<\/a><\/strong> <span class="badge bad">critical<\/span> Reads &lt;b&gt;too&lt;\/b&gt; far<\/p>/,
  )
  assert.match(
    first ?? '',
    /Patched in 1\.1\.0, 2\.0\.1<br>Also known as CVE-2026-1234<br>Functions: <code>demo::read<\/code><br>Platforms: <code>linux<\/code><br><code>CVSS:3\.1\/AV:N/,
  )
  assert.match(first ?? '', /<strong>the hole<\/strong>/)
  assert.doesNotMatch(first ?? '', /<script>alert|<img[^>]*holes/)
  assert.equal(first?.match(/id="user-content-readme"/g)?.length, 1)
  assert.match(second ?? '', /<span class="badge bad" title="ACME-2026-0002">unmaintained</)
  assert.match(
    second ?? '',
    /<div class="notice" role="note"><p><strong><a href="\.\.\/\.\.\/\.\.\/advisories\/ACME-2026-0002\.json" rel="[^"]*">ACME-2026-0002<\/a><\/strong> <span class="badge">unmaintained<\/span> Nobody/,
  )
  assert.match(second ?? '', /No version is patched/)
  assert.doesNotMatch(second ?? '', /ACME-2026-0001/)
  for (const [version, word] of [
    ['1.0.0', 'vulnerable'],
    ['1.1.0', 'unmaintained'],
    ['2.0.0', 'vulnerable'],
  ])
    assert.match(
      crate ?? '',
      new RegExp(`>${version}</a> <span class="badge bad" title="[^"]*">${word}<`),
    )
  const { advisories, versions } = JSON.parse(record ?? '')
  assert.deepEqual(
    advisories.map((each: Record<string, unknown>) => [
      each.id,
      each.severity,
      each.informational,
      each.aliases,
      'description' in each,
    ]),
    [
      ['ACME-2026-0001', 'critical', null, ['CVE-2026-1234'], false],
      ['ACME-2026-0002', null, 'unmaintained', [], false],
    ],
  )
  assert.deepEqual(
    versions.map((each: Record<string, unknown>) => [each.version, each.advisories]),
    [
      ['2.0.0', ['ACME-2026-0001', 'ACME-2026-0002']],
      ['1.1.0', ['ACME-2026-0002']],
      ['1.0.0', ['ACME-2026-0001', 'ACME-2026-0002']],
    ],
  )
  assert.match(
    feed ?? '',
    /<title>ACME-2026-0001: Reads &lt;b&gt;too&lt;\/b&gt; far<\/title>\n<updated>2026-01-31T12:00:00Z<[^§]*<summary>Covers 1\.0\.0, 2\.0\.0</,
  )

  const found = async (query: string) => {
    const answer = await app.request('GET', `/api/v1/crates?${query}`)
    return ((await answer.json()) as { crates: { name: string }[] }).crates.map(({ name }) => name)
  }
  await app.publish(token, { name: 'other', version: '1.0.0' })
  await app.indexWorker.settle()
  await app.indexWorker.pages.flush()
  const words = ['q=CVE-2026-1234', 'q=acme-2026-0002', 'advisory=any', 'advisory=vulnerable']
  for (const query of [...words, 'q=advisory:unmaintained', 'advisory=cve-2026-1234'])
    assert.deepEqual(await found(query), ['demo'], query)
  assert.deepEqual(await found('advisory=unsound'), [])

  assert.deepEqual(await take({}), before)
  assert.deepEqual(await found('advisory=any'), [])
})

test('what an advisory says is rendered once, and not for each version that it covers', async t => {
  const app = await TestRegistry.open(t)
  const token = await app.user('alice')
  for (let patch = 0; patch < 8; patch++)
    await app.publish(token, { name: 'demo', version: `1.0.${patch}` })
  await app.indexWorker.settle()
  await app.indexWorker.pages.flush()
  mkdirSync(join(app.dir, 'advisories'))
  const more = `source = "sparse+${BASE}/index/"`
  const hole = rustSecFile({ id: 'ACME-2026-0003', more }).replace('does', 'does but once')
  writeFileSync(join(app.dir, 'advisories', 'a.md'), hole)
  const tasks = t.mock.method(sandbox, 'run').mock
  assert.deepEqual(await takeAdvisories(app.registry, operatorChange(AT)), [])
  await app.indexWorker.settle()
  await app.indexWorker.pages.flush()
  for (const version of ['1.0.0', '1.0.7'])
    assert.match(await app.text(`crates/demo/${version}/index.html`), /does but once/)
  const readmes = tasks.calls.filter(({ arguments: [task] }) => (task as string) === 'readme')
  assert.equal(readmes.length, 1)
})
