import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { covers } from '../../../core/advisory/advisory.ts'
import { CRATES_IO } from '../../../core/index-url.ts'
import { parseVersion } from '../../../core/version.ts'
import { readAdvisories } from '../../../generator/advisories/read.ts'
import { readUpdate } from '../../../generator/advisories/update.ts'
import { all } from '../../../generator/database/statement.ts'
import { keepAdvisories } from '../../../generator/records/advisories/change.ts'
import { advisoriesOf } from '../../../generator/records/advisories/read.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { osvFile, rustSecFile } from '../../support/advisories.ts'
import { tar } from '../../support/crate-builder.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'
import { folderOf } from '../../support/workplace.ts'

const SOURCE = `source = "sparse+${BASE}/index/"`

function write(folder: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

async function update(app: TestRegistry, given: string | null): Promise<string[]> {
  const { registry, dir } = app
  const read = await readUpdate(registry, dir, given === null ? null : [given])
  const change = operatorChange('2026-11-20T12:00:00Z')
  await keepAdvisories(registry, read.changes, registry.urls.own, change)
  assert.deepEqual(read.issues, [])
  return read.changes.map(
    ({ name, content, before }) => `${before === '' ? '+' : content === '' ? '-' : '~'} ${name}`,
  )
}

const marks = async (app: TestRegistry, kind: string) =>
  (
    await all<{ subject: number }>(
      app.registry.database,
      'SELECT subject FROM marks WHERE kind = ? ORDER BY subject',
      kind,
    )
  ).map(({ subject }) => subject)

test('an update keeps what differs, and marks only crates whose versions it is about', async t => {
  const app = await TestRegistry.open(t)
  const token = await app.user('alice')
  for (const name of ['demo', 'other']) await app.publish(token, { name, version: '1.0.0' })
  await app.indexWorker.settle()
  await app.indexWorker.pages.flush()
  const own = write(join(app.dir, 'advisories'), {
    'ACME-2026-0001.md': rustSecFile({ id: 'ACME-2026-0001', more: SOURCE, patched: ['>= 1.0.1'] }),
    'ACME-2026-0002.md': rustSecFile({
      id: 'ACME-2026-0002',
      name: 'other',
      more: SOURCE,
      unaffected: ['< 2'],
    }),
  })
  const given = folderOf(t)
  write(given, {
    'crates/demo/RUSTSEC-2026-0001.md': rustSecFile({}),
    'rust/std/CVE-2020-0001.md': rustSecFile({ id: 'CVE-2020-0001', name: 'std' }),
    'README.md': 'none',
  })
  assert.deepEqual(await update(app, given), [
    '+ ACME-2026-0001',
    '+ ACME-2026-0002',
    '+ RUSTSEC-2026-0001',
  ])
  const { database, urls } = app.registry
  const ids = async (origin: Iterable<string>) =>
    (await advisoriesOf(database, 'demo', origin)).map(({ id }) => id)
  assert.deepEqual(await ids(urls.own), ['ACME-2026-0001'])
  assert.deepEqual(await ids([CRATES_IO]), ['RUSTSEC-2026-0001'])
  const [hole] = await advisoriesOf(database, 'Demo', urls.own)
  assert.ok(hole && covers(hole, parseVersion('1.0.0')) && !covers(hole, parseVersion('1.0.1')))
  assert.deepEqual(await marks(app, 'advisory'), [0, 1, 2, 3])
  assert.deepEqual(await marks(app, 'page'), [1])
  assert.deepEqual(await marks(app, 'index'), [])
  // Nothing is different: nothing is marked, and nothing is written into the audit log.
  const events = () => all(database, "SELECT id FROM audit WHERE action = 'advisories'")
  const before = await events()
  assert.deepEqual(await update(app, given), [])
  assert.deepEqual(await events(), before)
  // Without a state from elsewhere, that stays; one in `advisories/` comes before it.
  write(own, { 'RUSTSEC-2026-0001.md': rustSecFile({ patched: ['>= 2'] }) })
  rmSync(join(own, 'ACME-2026-0001.md'))
  assert.deepEqual(await update(app, null), ['~ RUSTSEC-2026-0001', '- ACME-2026-0001'])
  assert.deepEqual(await update(app, given), [])
  assert.deepEqual(await ids(urls.own), [])
  // An empty folder says so, too, where daemons share the records.
  for (const name of readdirSync(own)) rmSync(join(own, name))
  // A cut archive, or a folder that is not mounted, takes nothing away.
  const none = folderOf(t)
  write(none, { 'none/README.md': 'none', 'zeros.tar.gz': gzipSync(Buffer.alloc(10_240)) })
  write(none, { 'bad/a.md': 'cut', 'bad/b.json': '{', 'cut.json': '' })
  for (const empty of ['zeros.tar.gz', 'none', 'bad', 'cut.json'].map(name => join(none, name)))
    await assert.rejects(update(app, empty), /has no file that can be read as an advisory/)
  const other = folderOf(t)
  write(other, { 'RUSTSEC-2026-0009.md': rustSecFile({ id: 'RUSTSEC-2026-0009', name: 'late' }) })
  const gone = ['- ACME-2026-0002', '- RUSTSEC-2026-0001', '+ RUSTSEC-2026-0009']
  assert.deepEqual((await update(app, other)).toSorted(), gone.toSorted())
  assert.deepEqual(await ids([CRATES_IO]), [])
})

test('an archive, a folder and the JSON of OSV give the same advisories', async t => {
  const folder = folderOf(t)
  const files = {
    'db-main/crates/demo/RUSTSEC-2026-0001.md': rustSecFile({}),
    'db-main/rust/std/CVE-2020-0001.md': rustSecFile({ id: 'CVE-2020-0001', name: 'std' }),
    'db-main/README.md': 'none',
  }
  write(folder, files)
  // As `git archive` writes it: a header for the whole archive comes first.
  const global = {
    path: 'pax_global_header',
    type: 'g',
    data: '52 comment=0123456789012345678901234567890123456789\n',
  }
  const members = [global, ...Object.entries(files).map(([path, data]) => ({ path, data }))]
  write(folder, {
    'db.tar.gz': gzipSync(tar(members)),
    'osv.json': osvFile(),
    'none.tar.gz': 'none',
  })
  const contents = async (source: string) => {
    const { kept, issues } = await readAdvisories([join(folder, source)], 'given')
    assert.deepEqual(issues, [])
    return kept.map(({ name, content }) => [name, JSON.parse(content)[0].ranges])
  }
  const expected = [['RUSTSEC-2026-0001', [{ introduced: '0.0.0-0', fixed: null }]]]
  for (const source of ['db-main', 'db.tar.gz', 'osv.json'])
    assert.deepEqual(await contents(source), expected)
  await assert.rejects(contents('none.tar.gz'), /cannot be read as a \.tar\.gz/)
  await assert.rejects(contents('missing'), /missing/)
})

test('a bad file is left out and named, and the rest is taken', async t => {
  const folder = folderOf(t)
  const outside = join(folderOf(t), 'secret.md')
  writeFileSync(outside, 'secret')
  write(folder, {
    'a.md': rustSecFile({}),
    'b.md': rustSecFile({}),
    'c.md': 'no advisory',
    'd.json': '{"id": 1}',
    'e.json': osvFile({ id: '../../../etc/passwd' }),
    'f.md': rustSecFile({ id: 'RUSTSEC-2026-0002', name: '../demo' }),
    'g.md': rustSecFile({ id: 'RUSTSEC-2026-0003', patched: ['>> 1'] }),
    'h.md': `${rustSecFile({ id: 'RUSTSEC-2026-0004' })}${'x'.repeat(64 * 1024)}`,
    'i.md': Buffer.from([0xff, 0xfe]),
    'j.json': osvFile({
      id: 'RUSTSEC-2026-0005',
      events: Array.from({ length: 202 }, (_, at) =>
        at % 2 ? { fixed: `1.${at}.0` } : { introduced: `1.${at}.0` },
      ),
    }),
    'k.md': rustSecFile({ id: 'RUSTSEC-2026-0006', more: 'source = "nowhere"' }),
    'l.json': '['.repeat(60_000),
  })
  symlinkSync(outside, join(folder, 'm.md'))
  execFileSync('mkfifo', [join(folder, 'n.md')])
  const { kept, issues } = await readAdvisories([folder], 'given')
  assert.deepEqual(
    kept.map(({ name }) => name),
    ['RUSTSEC-2026-0001'],
  )
  const reasons = issues.map(({ message }) =>
    message.replace(/^.*?([a-z])\.(?:md|json).*?: (?:this is no adv.*?: )?(.{0,38}).*$/s, '$1 $2'),
  )
  assert.deepEqual(reasons, [
    'b another file has the id RUSTSEC-2026-0',
    'c it does not begin with TOML between li',
    'd id: Invalid type: Expected string but ',
    'e `id` is none such as RUSTSEC-2021-0001',
    'f `package` is no name of a crate; mend ',
    'g `versions` has what is no requirement ',
    'h it is longer than 65536 bytes; mend or',
    'i it is not UTF-8; mend or remove the fi',
    'j it has more than 100 ranges of version',
    'k `source` is no index URL, such as spar',
    'l JSON: Invalid type: Expected Object bu',
    'm it does not begin with TOML between li',
    'n it does not begin with TOML between li',
  ])
  const titled = await readAdvisories(
    [write(folderOf(t), { 'x.md': rustSecFile({ title: 'A \u202Ered\u0007 \u001b[31mtitle' }) })],
    'own',
  )
  assert.equal(JSON.parse(titled.kept[0]?.content ?? '')[0].title, 'A red [31mtitle')
})
