import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Code, Refusal } from '../../../../core/error/error.ts'
import { canonicalName, parseName } from '../../../../core/name.ts'
import { lookAlikeSkeleton } from '../../../../core/policy/look-alike.ts'
import type { Release } from '../../../../core/release/release.ts'
import { parseVersion } from '../../../../core/version.ts'
import { inspect } from '../../../../generator/add/add.ts'
import type { Registry } from '../../../../generator/registry.ts'
import type { Change } from '../../../../generator/store/catalog/record.ts'
import { buildCrate, type CrateParts } from '../../../support/crate-builder.ts'
import { newRegistry, OPERATOR, once } from '../../../support/workplace.ts'

const demo = parseName('demo')
const one = parseVersion('1.0.0')

async function releaseOf(
  registry: Registry,
  parts: Partial<CrateParts>,
  cksum = 'a'.repeat(64),
): Promise<Release> {
  const bytes = buildCrate({ name: 'demo', version: '1.0.0', ...parts })
  const source = {
    bytes: { size: bytes.length, cksum, open: () => once(bytes) },
    pubtime: OPERATOR.at,
  }
  const release = await inspect(source, registry.settings, registry.urls, [])
  assert.ok(release)
  return release
}

/** Changes by users of the given login. */
async function changesBy(registry: Registry, login: string, admin = false): Promise<Change> {
  const { id } = await registry.database
    .insertInto('users')
    .values({ login, canonical: login, admin: Number(admin), created_at: OPERATOR.at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { at: OPERATOR.at, actor: login, user: { id, admin }, tokenId: null }
}

const refuses =
  (...codes: Code[]) =>
  (error: unknown) => {
    assert.ok(error instanceof Refusal, String(error))
    assert.deepEqual(
      error.issues.map(issue => issue.code),
      codes,
    )
    return true
  }

test('a release is added with its crate, first owner, audit event and marks, and found again', async t => {
  const registry = await newRegistry(t)
  const { catalog, database } = registry
  const change = await changesBy(registry, 'alice')
  const release = await releaseOf(registry, { name: 'My-Crate' })
  const { outcome, crateId } = await catalog.add(release, change)
  assert.equal(outcome, 'added')
  const crate = await catalog.find(parseName('my_crate'))
  assert.deepEqual(crate, {
    id: crateId,
    name: 'My-Crate',
    createdAt: OPERATOR.at,
    generation: crate?.generation,
  })
  assert.deepEqual(await catalog.crate(crateId), crate)
  assert.equal(await catalog.isOwner(crateId, change.user?.id ?? 0), true)
  const found = await catalog.release(crateId, one)
  assert.equal(found?.publishedBy, 'alice')
  assert.equal(found?.publishedAt, OPERATOR.at)
  assert.equal(found?.yanked, false)
  assert.equal(found?.about.description, 'A crate for tests')
  assert.deepEqual(await catalog.releases(crateId), [found])
  assert.deepEqual(await catalog.lines(crateId), [found?.line])
  const generation = crate?.generation ?? 0
  assert.deepEqual(await catalog.marks('index'), [{ kind: 'index', subject: crateId, generation }])
  assert.deepEqual(await catalog.fileMarks(crateId), [
    { kind: 'file', subject: found?.id, generation, version: '1.0.0', cksum: 'a'.repeat(64) },
  ])
  const events = await database
    .selectFrom('audit')
    .select(['id', 'action', 'actor', 'crate', 'version'])
    .execute()
  assert.deepEqual(events, [
    { id: generation, action: 'publish', actor: 'alice', crate: 'My-Crate', version: '1.0.0' },
  ])
})

test('the same release again is a success that changes nothing', async t => {
  const registry = await newRegistry(t)
  const change = await changesBy(registry, 'alice')
  const release = await releaseOf(registry, {})
  const { crateId } = await registry.catalog.add(release, change)
  const before = await registry.catalog.crate(crateId)
  assert.deepEqual(await registry.catalog.add(release, change), { outcome: 'present', crateId })
  assert.deepEqual(await registry.catalog.crate(crateId), before)
  assert.equal((await registry.catalog.releases(crateId)).length, 1)
})

test('a version is taken by other bytes, by another build of it, and after a yank', async t => {
  const registry = await newRegistry(t)
  const { catalog } = registry
  const { crateId } = await catalog.add(await releaseOf(registry, {}), OPERATOR)
  await assert.rejects(
    catalog.add(await releaseOf(registry, {}, 'b'.repeat(64)), OPERATOR),
    refuses('version_taken'),
  )
  const build = await releaseOf(registry, { version: '1.0.0+build' })
  await assert.rejects(catalog.add(build, OPERATOR), refuses('version_taken'))
  await catalog.setYanked(demo, one, true, OPERATOR)
  await assert.rejects(
    catalog.setYanked(demo, parseVersion('1.0.0+build'), true, OPERATOR),
    (error: unknown) =>
      error instanceof Refusal &&
      error.message ===
        'there is no version 1.0.0+build of `demo` here, but 1.0.0, which differs only in build metadata; name that one',
  )
  await assert.rejects(
    catalog.add(await releaseOf(registry, {}), OPERATOR),
    refuses('version_taken'),
  )
  assert.equal((await catalog.releases(crateId)).length, 1)
})

test('a name that differs only by case, - and _ is taken', async t => {
  const registry = await newRegistry(t)
  await registry.catalog.add(await releaseOf(registry, { name: 'my-crate' }), OPERATOR)
  for (const name of ['my_crate', 'My-Crate']) {
    const release = await releaseOf(registry, { name, version: '2.0.0' }, 'b'.repeat(64))
    await assert.rejects(registry.catalog.add(release, OPERATOR), refuses('name_taken'))
  }
})

test('only owners add versions and yank; a crate without owners is in the hands of administrators', async t => {
  const registry = await newRegistry(t)
  const { catalog } = registry
  const [alice, bob, admin] = [
    await changesBy(registry, 'alice'),
    await changesBy(registry, 'bob'),
    await changesBy(registry, 'root', true),
  ]
  const next = await releaseOf(registry, { version: '2.0.0' }, 'b'.repeat(64))
  await catalog.add(await releaseOf(registry, {}), alice)
  for (const other of [bob, admin]) {
    await assert.rejects(catalog.add(next, other), refuses('not_owner'))
    await assert.rejects(catalog.setYanked(demo, one, true, other), refuses('not_owner'))
  }
  await assert.rejects(catalog.add(await releaseOf(registry, {}), bob), refuses('not_owner'))
  assert.equal((await catalog.add(next, OPERATOR)).outcome, 'added')

  await catalog.add(await releaseOf(registry, { name: 'taken-in' }, 'c'.repeat(64)), OPERATOR)
  const update = await releaseOf(registry, { name: 'taken-in', version: '2.0.0' }, 'd'.repeat(64))
  await assert.rejects(catalog.add(update, bob), refuses('not_owner'))
  assert.equal((await catalog.add(update, admin)).outcome, 'added')
})

test('every objection to a release comes at once', async t => {
  const registry = await newRegistry(t)
  await registry.catalog.add(await releaseOf(registry, {}), await changesBy(registry, 'alice'))
  const bob = await changesBy(registry, 'bob')
  const other = await releaseOf(registry, {}, 'b'.repeat(64))
  await assert.rejects(registry.catalog.add(other, bob), refuses('not_owner', 'version_taken'))
  // Of a crate that is another one only this is told.
  const namesake = await releaseOf(registry, { name: 'Demo' }, 'b'.repeat(64))
  await assert.rejects(registry.catalog.add(namesake, bob), refuses('name_taken'))
})

test('yanking changes the flag in the line and nothing else, once', async t => {
  const registry = await newRegistry(t)
  const { catalog } = registry
  const { crateId } = await catalog.add(await releaseOf(registry, {}), OPERATOR)
  const [before] = await catalog.lines(crateId)
  await catalog.clear(await catalog.marks('index'))
  assert.deepEqual(await catalog.setYanked(parseName('DEMO'), one, true, OPERATOR), {
    crateId,
    changed: true,
  })
  assert.deepEqual(await catalog.lines(crateId), [
    before?.replace('"yanked":false', '"yanked":true'),
  ])
  assert.equal((await catalog.marks('index')).length, 1)
  assert.deepEqual(await catalog.setYanked(demo, one, true, OPERATOR), { crateId, changed: false })
  assert.deepEqual(await catalog.setYanked(demo, one, false, OPERATOR), { crateId, changed: true })
  assert.deepEqual(await catalog.lines(crateId), [before])
  await assert.rejects(
    catalog.setYanked(parseName('none'), one, true, OPERATOR),
    refuses('crate_unknown'),
  )
  await assert.rejects(
    catalog.setYanked(demo, parseVersion('9.0.0'), true, OPERATOR),
    refuses('release_unknown'),
  )
})

test('a mark goes only when nothing has changed since it was read', async t => {
  const registry = await newRegistry(t)
  const { catalog } = registry
  const { crateId } = await catalog.add(await releaseOf(registry, {}), OPERATOR)
  const old = await catalog.marks('index')
  await catalog.setYanked(demo, one, true, OPERATOR)
  await catalog.clear(old)
  const [mark] = await catalog.marks('index')
  assert.ok(mark && mark.generation > (old[0]?.generation ?? 0))
  assert.equal(await catalog.isMarked(crateId), true)
  await catalog.clear([mark])
  assert.equal(await catalog.isMarked(crateId), false)
  assert.deepEqual(await catalog.marks('index'), [])
  await catalog.clear([])
})

test('marks come oldest first, a page after a generation', async t => {
  const registry = await newRegistry(t)
  const ids: number[] = []
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    const release = await releaseOf(registry, { name: `crate-${name}` }, String(index).repeat(64))
    ids.push((await registry.catalog.add(release, OPERATOR)).crateId)
  }
  await registry.catalog.setYanked(parseName('crate-a'), one, true, OPERATOR)
  const first = await registry.catalog.marks('index', 0, 2)
  assert.deepEqual(
    first.map(mark => mark.subject),
    [ids[1], ids[2]],
  )
  const rest = await registry.catalog.marks('index', first[1]?.generation, 2)
  assert.deepEqual(
    rest.map(mark => mark.subject),
    [ids[0]],
  )
})

test('known and lookAlikes answer what the policy asks', async t => {
  const registry = await newRegistry(t)
  await registry.catalog.add(await releaseOf(registry, { name: 'Good-Name' }), OPERATOR)
  const many = Array.from({ length: 1200 }, (_, i) => parseName(`n${i}`))
  const known = await registry.catalog.known([...many, parseName('good_name')])
  assert.deepEqual([...known], [[canonicalName(parseName('good_name')), 'Good-Name']])
  assert.deepEqual(await registry.catalog.lookAlikes([lookAlikeSkeleton(parseName('g00d-name'))]), [
    'Good-Name',
  ])
  assert.deepEqual(await registry.catalog.lookAlikes(['other']), [])
  assert.deepEqual(await registry.catalog.lookAlikes([]), [])
})

test('crates are read in pages, each once', async t => {
  const { catalog, database } = await newRegistry(t)
  const rows = Array.from({ length: 1201 }, (_, i) => ({
    name: `n${i}`,
    canonical: `n${i}`,
    skeleton: '',
    created_at: OPERATOR.at,
    generation: 0,
  }))
  for (let at = 0; at < rows.length; at += 100) {
    await database
      .insertInto('crates')
      .values(rows.slice(at, at + 100))
      .execute()
  }
  const names: string[] = []
  for await (const crate of catalog.crates()) names.push(crate.name)
  assert.deepEqual(
    names,
    rows.map(row => row.name),
  )
  assert.equal((await catalog.counts()).crates, 1201)
})

test('facts are remembered, changed and forgotten; audit events are kept as they are', async t => {
  const registry = await newRegistry(t)
  const { catalog, database } = registry
  assert.equal(await catalog.fact('key'), null)
  await catalog.setFact('key', 'one')
  await catalog.setFact('key', 'two')
  assert.equal(await catalog.fact('key'), 'two')
  await catalog.setFact('key', null)
  assert.equal(await catalog.fact('key'), null)
  await catalog.add(await releaseOf(registry, {}), OPERATOR)
  await assert.rejects(database.deleteFrom('audit').execute(), /audit events are kept/)
  await assert.rejects(
    database.updateTable('audit').set({ actor: 'x' }).execute(),
    /audit events are fixed/,
  )
})

test('readme and bytes are found by release and checksum', async t => {
  const registry = await newRegistry(t)
  const release = await releaseOf(registry, { files: { 'src/lib.rs': '', 'README.md': '# Demo' } })
  const { crateId } = await registry.catalog.add(release, OPERATOR)
  const found = await registry.catalog.release(crateId, one)
  assert.equal(await registry.catalog.readme(found?.id ?? 0), '# Demo')
  assert.equal(await registry.catalog.readme(0), null)
  assert.equal(await registry.catalog.hasBytes('a'.repeat(64)), true)
  assert.equal(await registry.catalog.hasBytes('b'.repeat(64)), false)
})
