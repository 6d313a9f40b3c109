// Mirrors generator/registry/changes/advisory-warnings.ts.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newestFit, rangesWithout } from '../../../../core/advisory/ranges.ts'
import { parseName } from '../../../../core/name.ts'
import type { Release } from '../../../../core/release/release.ts'
import { parseRequirement } from '../../../../core/requirement.ts'
import { parseVersion } from '../../../../core/version.ts'
import { takeAdvisories } from '../../../../generator/advisories/update.ts'
import { run } from '../../../../generator/database/statement.ts'
import { operatorChange } from '../../../../generator/records/change.ts'
import { readExisting } from '../../../../generator/records/releases-stored.ts'
import { advisoryWarnings } from '../../../../generator/registry/changes/advisory-warnings.ts'
import { type AdvisoryParts, rustSecFile } from '../../../support/advisories.ts'
import { withQueryHook } from '../../../support/query-hook.ts'
import { TestRegistry } from '../../../support/registry.ts'
import { BASE, ownDependency } from '../../../support/release.ts'

const CHANGE = operatorChange('2026-11-20T12:00:00Z')
const OWN = `source = "sparse+${BASE}/index/"`
const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'
const cvss = (vector: string) => `cvss = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/${vector}"`

async function prepared(
  t: Parameters<typeof TestRegistry.open>[0],
  env: Record<string, string>,
  ignore: string[] = [],
) {
  const app = await TestRegistry.open(t, { env })
  const token = await app.user('alice')
  for (const version of ['1.0.0', '1.1.0', '2.0.0'])
    await app.publish(token, { name: 'demo', version })
  mkdirSync(join(app.dir, 'advisories'))
  const take = async (...all: AdvisoryParts[]) => {
    for (const parts of all)
      writeFileSync(join(app.dir, 'advisories', `${parts.id}.md`), rustSecFile(parts))
    assert.deepEqual(await takeAdvisories(app.registry, CHANGE), [])
  }
  const warned = async (...deps: object[]) => {
    let statements = 0
    const database = withQueryHook(app.registry.database, () => {
      statements++
    })
    const entry = { deps: deps.map(dep => ({ registry: null, kind: 'normal', req: '^1', ...dep })) }
    const { settings } = app.registry
    const advisories = { ...settings.advisories, ignore }
    const issues = await advisoryWarnings(
      { ...app.registry, database, settings: { ...settings, advisories } },
      {
        entry,
      } as unknown as Release,
    )
    assert.ok(statements <= 1, `${statements} statements`)
    return issues.map(({ severity, message }) => {
      assert.equal(severity, 'warning')
      return message
    })
  }
  return { app, token, take, warned }
}

test('a publish is warned once of each advisory that covers what its dependencies resolve to', async t => {
  const ignore = [
    { id: 'ACME-2026-0007', reason: 'no input', until: '2026-11-20' },
    { id: 'ACME-2026-0008', reason: 'no input', until: '2026-11-19' },
  ].map(item => JSON.stringify(item))
  const { app, token, take, warned } = await prepared(t, {}, ignore)
  const { database } = app.registry
  const release = { name: parseName('app'), version: parseVersion('1.0.0') }
  assert.equal((await readExisting(database, release, CHANGE)).hasAdvisories, false)
  await take(
    // It counts as high; the patch that it promises is not here yet.
    { id: 'ACME-2026-0001', title: 'A\u202e hole\u0007', patched: ['>= 1.2.0'], more: OWN },
    { id: 'ACME-2026-0002', patched: ['>= 1.1.0'], more: OWN },
    { id: 'ACME-2026-0003', more: `${OWN}\n${cvss('C:L/I:N/A:N')}` },
    { id: 'RUSTSEC-2026-0001', more: cvss('C:H/I:H/A:H') },
    { id: 'RUSTSEC-2026-0002', name: 'time', patched: ['>= 0.2.23'], title: 'Segfault' },
  )
  const FIRST =
    'ACME-2026-0001 (no CVSS) covers the newest version of the dependency `demo` that fits `^1`: A hole'
  assert.equal((await readExisting(database, release, CHANGE)).hasAdvisories, true)
  assert.deepEqual(
    await warned({ name: 'demo' }, { name: 'again', package: 'demo', kind: 'build' }),
    [FIRST],
  )
  assert.deepEqual(
    await warned({ name: 'demo', kind: 'dev' }, { name: 'none' }, { name: 'demo', req: '^2' }),
    [],
  )
  assert.deepEqual(await warned({ name: 'demo', registry: CRATES_IO }), [
    'RUSTSEC-2026-0001 (critical) covers the newest version of the dependency `demo` that fits `^1`: Demo has a hole',
  ])
  assert.deepEqual(await warned({ name: 'demo', registry: 'https://other.example/index' }), [])
  const time = (req: string) => warned({ name: 'time', registry: CRATES_IO, req })
  assert.deepEqual(await time('^0.1'), [
    'RUSTSEC-2026-0002 (no CVSS) covers the newest version of the dependency `time` that fits `^0.1`: Segfault',
  ])
  assert.deepEqual(await time('^0.2'), [])
  await take({ id: 'ACME-2026-0007', name: 'demo', more: OWN })
  assert.deepEqual(await warned({ name: 'demo' }), [FIRST])
  const holes = Array.from(
    { length: 12 },
    (_, at) => `ACME-2026-${String(at + 8).padStart(4, '0')}`,
  )
  await take(...holes.map(id => ({ id, more: OWN })))
  assert.equal((await warned({ name: 'demo' })).length, 10)
  assert.match((await warned({ name: 'demo' }))[1] ?? '', /^ACME-2026-0008/)

  const { manifest, metadata } = ownDependency('demo')
  const { body } = await app.publish(
    token,
    { name: 'app', version: '1.0.0', manifest },
    { deps: [metadata] },
  )
  const { warnings } = body as unknown as { warnings: { other: string[] } }
  assert.equal(warnings.other[0], FIRST)
  assert.equal(warnings.other.length, 10)
})

test('no publish is warned of what is less severe than wanted', async t => {
  const { take, warned } = await prepared(t, { PLIMSOLL_ADVISORIES_WARN_FROM: 'critical' })
  await take(
    { id: 'ACME-2026-0001', more: OWN },
    { id: 'ACME-2026-0002', more: `${OWN}\n${cvss('C:H/I:H/A:H')}` },
  )
  assert.deepEqual(
    (await warned({ name: 'demo' })).map(text => text.slice(0, 25)),
    ['ACME-2026-0002 (critical)'],
  )
})

test('where nobody knows the versions, the newest that fits is guessed by what is named', () => {
  const newest = (req: string, patched: string[]) =>
    newestFit(parseRequirement(req), rangesWithout(patched) ?? [])
  assert.equal(newest('^1.2', ['>= 1.4.3']), '1.4.3')
  assert.equal(newest('~1.2', ['>= 1.4.3']), '1.2.1')
  assert.equal(newest('>1.5.0, <1.6.0', ['<1.5.0', '>= 1.6.0']), '1.5.1')
  assert.equal(newest('=1.2.3', ['>= 1.4.3']), '1.2.3')
  assert.equal(newest('=1.2.3-rc.1', []), '1.2.3-rc.1')
  assert.equal(newest('*', ['<1.3.0-beta']), '1.3.0')
  assert.equal(newest('>=2', ['>= 1.4.3']), '2.0.1')
})

test('hundreds of requirements on a crate of thousands of versions take little time', async t => {
  const { app, token, take, warned } = await prepared(t, {})
  await take({ id: 'ACME-2026-0001', more: OWN, patched: ['>= 2'] })
  const columns = 'crate_id, cksum, size, yanked, line, about, published_at'
  const sql = `INSERT INTO releases (version, identity, ${columns})
    SELECT '1.2.' || value, '1.2.' || value, ${columns} FROM releases, json_each(?)
    WHERE version = '1.0.0'`
  const numbers = JSON.stringify(Array.from({ length: 4000 }, (_, at) => at))
  await run(app.registry.database, sql, numbers)
  const deps = Array.from({ length: 500 }, (_, at) => ({
    ...{ name: `demo${at}`, package: 'demo', req: `=99.0.${at}` },
  }))
  const begun = process.cpuUsage()
  assert.deepEqual(await warned(...deps), [])
  const { user, system } = process.cpuUsage(begun)
  assert.ok(user + system < 1_000_000, `${user + system} µs`)

  // The same where versions are yanked.
  await run(app.registry.database, "UPDATE releases SET yanked = 1 WHERE version LIKE '1.2.%'")
  const sent = deps.map(({ name, req }) => ownDependency('demo', { rename: name, req }))
  const again = process.cpuUsage()
  const manifest = sent.map(dep => dep.manifest).join('')
  const { status } = await app.publish(
    token,
    { name: 'user', version: '1.0.0', manifest },
    { deps: sent.map(({ metadata }) => metadata) },
  )
  const used = process.cpuUsage(again)
  assert.equal(status, 200)
  assert.ok(used.user + used.system < 4_000_000, `${used.user + used.system} µs`)
})
