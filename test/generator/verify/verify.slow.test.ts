import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { dayOf } from '../../../core/day-counts.ts'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { run } from '../../../generator/database/statement.ts'
import { GitIndex, gitIndexPath } from '../../../generator/git/git-index.ts'
import { openIndexRepository } from '../../../generator/git/index-repository/repository.ts'
import { build } from '../../../generator/pages/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { search } from '../../../generator/projections/search/projection.ts'
import { addDownloads, markAllDueDownloads } from '../../../generator/records/downloads/count.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import type { VerifyOptions } from '../../../generator/verify/finding.ts'
import { verify } from '../../../generator/verify/verify.ts'
import { findingsOf } from '../../support/findings.ts'
import { git } from '../../support/git.ts'
import { insertRows } from '../../support/rows.ts'
import { addCrate, newRegistry } from '../../support/workplace.ts'

const DEMO = 'de/mo/demo'

/** A registry with three releases of two crates, its pages and its git index. */
async function scene(t: TestContext): Promise<Registry> {
  const registry = await newRegistry(t)
  await addCrate(registry, { name: 'demo', version: '1.0.0' })
  await addCrate(registry, { name: 'demo', version: '1.1.0' })
  await addCrate(registry, { name: 'other', version: '1.0.0' })
  await build(registry)
  await buildPages(registry)
  await commit(registry)
  return registry
}

async function commit(registry: Registry): Promise<void> {
  const git = await GitIndex.open(registry)
  assert.ok(git, 'these tests need git')
  await git.commit()
  await git.close()
}

const findings = (registry: Registry, options: Partial<VerifyOptions> = {}) =>
  findingsOf(verify(registry, { repair: false, served: false, ...options }))

/** Commits behind the registry's back. */
async function forge(registry: Registry, path: string, text: string | null): Promise<void> {
  const repository = await openIndexRepository({ path: gitIndexPath(registry) })
  const bytes = text === null ? null : Buffer.from(text)
  await repository.commit([{ path, bytes }], { message: 'forged', time: new Date(0) })
  await repository.close()
}

/** Flips a byte of the newest pack. */
function damagePack(registry: Registry): void {
  // One of the two engines writes no packs.
  git(gitIndexPath(registry), 'repack', '-adq')
  const folder = join(gitIndexPath(registry), 'objects', 'pack')
  for (const name of readdirSync(folder).filter(name => name.endsWith('.pack'))) {
    const path = join(folder, name)
    const bytes = readFileSync(path)
    // Before the 20 bytes of its checksum.
    const at = bytes.length - 30
    bytes[at] = (bytes[at] ?? 0) ^ 0xff
    chmodSync(path, 0o644)
    writeFileSync(path, bytes)
  }
}

/** What is found after something has been harmed. */
const damages: [found: RegExp, harm: (registry: Registry) => unknown][] = [
  [
    /^index\.git:de\/mo\/demo: differs from the records in the git index$/,
    registry => forge(registry, DEMO, '{"name":"demo"}\n'),
  ],
  [
    /^index\.git:de\/mo\/demo: is missing from the git index$/,
    registry => forge(registry, DEMO, null),
  ],
  [
    /^index\.git:ev\/il\/evil: belongs to no crate of the records, but is in the git index$/,
    registry => forge(registry, 'ev/il/evil', '{}\n'),
  ],
  [
    /^index\.git:config\.json: differs from the records in the git index$/,
    registry => forge(registry, 'config.json', '{}\n'),
  ],
  [
    /^index\.git: the repository is missing(?:; its history starts over)?$/,
    registry => rmSync(gitIndexPath(registry), { recursive: true }),
  ],
  [/^index\.git: `git fsck` failed: /, damagePack],
  [/^plimsoll\.db: row \d missing from index releases_cksum$/, loseRowsOfIndex],
  [
    /^plimsoll\.db: the data for lists and searches does not match the releases$/,
    ({ database }) => run(database, 'UPDATE listings SET versions = 7'),
  ],
  [
    /^plimsoll\.db: the number of releases is wrong$/,
    ({ database }) => run(database, 'UPDATE counts SET n = 99'),
  ],
]

async function loseRowsOfIndex({ database }: Registry): Promise<void> {
  const other = 'CREATE INDEX releases_cksum ON releases (version)'
  await run(database, 'PRAGMA writable_schema = ON')
  await run(database, `UPDATE sqlite_schema SET sql = ? WHERE name = 'releases_cksum'`, other)
  await run(database, 'PRAGMA writable_schema = RESET')
  // Makes every connection read it anew.
  await run(database, 'PRAGMA schema_version = 1000')
}

for (const [finding, harm] of damages) {
  test(`found and repaired: ${finding.source}`, async t => {
    const registry = await scene(t)
    assert.deepEqual(await findings(registry), [])
    await harm(registry)
    const isIt = (line: string) => finding.test(line.replace(/^repaired /, ''))
    const isRepaired = (line: string) => line.startsWith('repaired ')
    const seen = await findings(registry)
    assert.ok(seen.some(isIt) && !seen.some(isRepaired), seen.join('\n'))
    const mended = await findings(registry, { repair: true })
    assert.ok(mended.some(isIt) && mended.every(isRepaired), mended.join('\n'))
    assert.deepEqual(await findings(registry), [])
  })
}

test('what waits for the git index is no finding, and a repair commits it', async t => {
  const registry = await scene(t)
  await addCrate(registry, { name: 'demo', version: '1.2.0' })
  await build(registry)
  await buildPages(registry)
  const told: number[] = []
  const onPending = (outputs: number) => told.push(outputs)
  for (const served of [false, true])
    assert.deepEqual(await findings(registry, { served, onPending }), [])
  assert.deepEqual(told.splice(0), [1, 1])
  assert.deepEqual(await findings(registry, { repair: true }), [
    'repaired index.git:de/mo/demo: was still to be rendered',
  ])
  assert.deepEqual([await findings(registry, { onPending }), told], [[], []])
})

test('the files of a search that grew meanwhile are not compared with those before', async t => {
  const registry = await scene(t)
  const parts = search.parts(registry)[Symbol.asyncIterator]()
  let part = await parts.next()
  for (let at = 0; at < 10; at++) await addCrate(registry, { name: `more-${at}`, version: '1.0.0' })
  await build(registry)
  await buildPages(registry)
  for (; !part.done; part = await parts.next())
    for (const { path, bytes } of await part.value.render())
      assert.deepEqual(await registry.tree.read(path), bytes, path)
})

test('pages that wait for their first downloads are no finding', async t => {
  const registry = await scene(t)
  const { database } = registry
  const now = new Date('2026-11-20T12:00:00Z')
  const release = { name: parseName('demo'), version: parseVersion('1.0.0') }
  const counts = [{ release, day: dayOf(now), n: 3 }]
  await database.transaction(tx => addDownloads(tx, counts, now))
  assert.deepEqual(await findings(registry, { served: true }), [])
  await markAllDueDownloads(database, now)
  const told: number[] = []
  const onPending = (outputs: number) => told.push(outputs)
  assert.deepEqual(await findings(registry, { onPending }), [])
  assert.notDeepEqual(told, [])
  assert.deepEqual(await findings(registry, { served: true }), [])
  await buildPages(registry)
  assert.deepEqual(await findings(registry), [])
  const page = join(registry.tree.root, 'crates/demo/index.html')
  writeFileSync(page, 'another')
  assert.deepEqual(await findings(registry, { served: true }), [
    'crates/demo/index.html: the page differs from the records',
  ])
})

test('a damaged git index is not replaced under a daemon that has it open', async t => {
  const registry = await scene(t)
  damagePack(registry)
  const [seen = ''] = await findings(registry, { repair: true, served: true })
  assert.match(seen, /^index\.git: `git fsck` failed/)
  assert.match(git(gitIndexPath(registry), 'rev-parse', 'HEAD'), /^[0-9a-f]{40}$/)
})

test('a crate that cannot be read keeps no other from being verified', async t => {
  const registry = await scene(t)
  await run(registry.database, `UPDATE releases SET about = '{' WHERE version = '1.1.0'`)
  writeFileSync(registry.tree.path('crates/other/index.html'), 'spoilt')
  writeFileSync(registry.tree.path('index/ot/he/other'), 'spoilt')
  const report = (await findings(registry)).join('\n')
  assert.match(report, /^demo: cannot be verified: /m)
  for (const path of ['index/ot/he/other', 'crates/other/index.html'])
    assert.match(report, new RegExp(`^${path}: `, 'm'))
})

test('a reference to a row that does not exist is lost', async t => {
  const { database, ...rest } = await scene(t)
  await run(database, 'PRAGMA foreign_keys = OFF')
  await insertRows(database, 'owners', { crate_id: 1, user_id: 77, added_at: 'x', added_by: null })
  assert.deepEqual(await findings({ database, ...rest }, { repair: true }), [
    'lost plimsoll.db: row ? of owners refers to a row of users that does not exist; restore a backup',
  ])
})

test('a folder that cannot be read keeps nothing else from being verified', async t => {
  const registry = await scene(t)
  rmSync(registry.tree.path('crates'), { recursive: true })
  symlinkSync('crates', registry.tree.path('crates'))
  writeFileSync(registry.tree.path('index/config.json'), 'spoilt')
  damagePack(registry)
  const report = (await findings(registry)).join('\n')
  for (const beginning of ['public: cannot be verified', 'index/config.json', 'index.git'])
    assert.match(report, new RegExp(`^${beginning}: `, 'm'))
})

test('what is a pipe or has no end is not read to its end', { timeout: 60_000 }, async t => {
  const registry = await scene(t)
  const { root } = registry.tree
  const endless = ['crates/demo/index.html', 'index/ot/he/other', 'crates/demo/demo-1.0.0.crate']
  for (const path of endless) {
    rmSync(join(root, path))
    writeFileSync(join(root, path), '')
    truncateSync(join(root, path), 1024 ** 4)
  }
  rmSync(join(root, 'index/de/mo/demo'))
  execFileSync('mkfifo', [join(root, 'index/de/mo/demo')])
  const before = process.memoryUsage.rss()
  const text = (await findings(registry)).join('\n')
  assert.ok(process.memoryUsage.rss() - before < 1024 ** 3)
  for (const path of [...endless, 'index/de/mo/demo']) assert.ok(text.includes(path), text)
})
