import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { value } from '../../../../generator/database/statement.ts'
import { openRegistry } from '../../../../generator/open.ts'
import { buildPages } from '../../../../generator/pages/pages.ts'
import { MARK_KINDS } from '../../../../generator/projections/projections.ts'
import { countMarks, setMarks } from '../../../../generator/records/marks.ts'
import { filesBelow } from '../../../support/folder.ts'
import { TestRegistry } from '../../../support/registry.ts'

test('one page lists the files of a version, one compares the versions of a crate', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const files = { 'src/lib.rs': 'pub fn x() {}\n', 'a b & i.txt': 'x' }
  for (const version of ['1.0.0', '1.1.0+a'])
    await registry.publish(token, { name: 'Demo', version, files })
  await registry.indexWorker.pages.flush()
  const page = await registry.text('crates/Demo/1.1.0+a/src/index.html')
  assert.match(page, /<li>src\/lib\.rs <span class="quiet">14 B<\/span><\/li>/)
  assert.match(page, /<li>a b &amp; i\.txt <span class="quiet">1 B<\/span><\/li>/)
  const up = '../../../../'
  for (const data of [
    'data-checksum="unchecked" data-name="Demo"',
    `data-dl="${up}crates/{crate}/{crate}-{version}.crate"`,
    `data-index="${up}index/de/mo/demo" data-version="1.1.0+a"`,
  ])
    assert.ok(page.includes(` ${data} `), data)
  const compare = await registry.text('crates/Demo/compare/index.html')
  assert.match(compare, /<option value="1\.1\.0\+a" data-size="\d+" data-unpacked="\d+" selected>/)
  const changes = await registry.text('crates/Demo/1.1.0+a/changes/index.html')
  assert.match(changes, /<h1>Changes from 1\.0\.0 to 1\.1\.0\+a<\/h1>/)
  assert.match(changes, /href="\.\.\/\.\.\/compare\/#1\.0\.0\.\.\.1\.1\.0\+a"/)
  const link = /href="(?:\.\.\/)?compare\/#1\.0\.0\.\.\.1\.1\.0\+a"/
  for (const version of ['', '1.1.0+a/'])
    assert.match(await registry.text(`crates/Demo/${version}index.html`), link)
})

test('an upgrade forgets what older programs noted', async t => {
  const registry = await TestRegistry.open(t)
  const { database } = registry.registry
  await registry.publish(await registry.user('alice'), { name: 'demo', version: '1.0.0' })
  await registry.indexWorker.settle()
  await registry.indexWorker.pages.flush()
  await setMarks(database, [{ kind: 'source' as never, subject: 1 }], 1)
  // A daemon of an older version may still set such marks.
  assert.deepEqual(await countMarks(database, MARK_KINDS), [])
  await buildPages(registry.registry, { all: true })
  assert.equal(await value(database, 'SELECT count(*) FROM marks'), 0)
})

test('without pages of sources nothing leads to them, and those of before are removed', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  for (const version of ['1.0.0', '1.1.0']) await registry.publish(token, { name: 'demo', version })
  await registry.indexWorker.pages.flush()
  const other = await openRegistry(registry.dir, { env: { PLIMSOLL_PAGES_SOURCE: 'false' } })
  t.after(() => other.close())
  await buildPages(other)
  const left = filesBelow(join(other.tree.root, 'crates/demo'))
  const pages = ['1.0.0/index.html', '1.1.0/index.html', 'index.html', 'latest/index.html']
  assert.deepEqual(
    left.filter(path => path.endsWith('index.html')),
    pages,
  )
  for (const path of pages)
    assert.doesNotMatch(await registry.text(`crates/demo/${path}`), /src\/|compare\/|>Source</)
})
