// Mirrors generator/records/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Code, Refusal } from '../../../core/error/error.ts'
import { canonicalName, type Name, parseName } from '../../../core/name.ts'
import { lookAlikeSkeleton } from '../../../core/policy/look-alike.ts'
import type { Release } from '../../../core/release/release.ts'
import { parseVersion } from '../../../core/version.ts'
import { all, insert, type Row, run } from '../../../generator/database/statement.ts'
import type { Change } from '../../../generator/records/change.ts'
import {
  crateRecords,
  eachCrate,
  findCrate,
  findLookAlikes,
  isOwner,
  knownNames,
  readCrate,
} from '../../../generator/records/crates.ts'
import { readFact, writeFact } from '../../../generator/records/facts.ts'
import { isMarked, listMarks, settleMarks } from '../../../generator/records/marks.ts'
import {
  followReleases,
  insertAdded,
  setYanked,
} from '../../../generator/records/release-changes.ts'
import {
  findRelease,
  indexFiles,
  indexLines,
  listReleases,
  readReadme,
  releaseOfBytes,
} from '../../../generator/records/releases.ts'
import { inspect } from '../../../generator/registry/check.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { buildCrate, type CrateParts } from '../../support/crate-builder.ts'
import { newRegistry, OPERATOR } from '../../support/workplace.ts'

const demo = parseName('demo')
const V1 = parseVersion('1.0.0')

async function releaseOf(
  registry: Registry,
  parts: Partial<CrateParts>,
  cksum = 'a'.repeat(64),
): Promise<Release> {
  const bytes = buildCrate({ name: 'demo', version: '1.0.0', ...parts })
  const source = {
    bytes: { content: bytes, size: bytes.length, cksum },
    pubtime: OPERATOR.at,
  }
  const release = await inspect(source, registry.settings, registry.urls, [])
  assert.ok(release)
  return release
}

/** Changes by users of the given login. */
async function changesBy(registry: Registry, login: string, admin = false): Promise<Change> {
  const row = { login, canonical: login, admin: Number(admin), created_at: OPERATOR.at }
  const id = await insert(registry.database, 'users', row)
  const user = { id, admin }
  return { at: OPERATOR.at, actor: login, user, tokenId: null, stillMay: async () => user }
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

async function addRelease(registry: Registry, release: Release, change: Change = OPERATOR) {
  return registry.database.transaction(async tx => {
    const added = await insertAdded(tx, release, change)
    await followReleases(tx, registry.followers, [added])
    return { ...added, crateId: added.crate.id }
  })
}

/** Adds `demo` 1.0.0, with changes. */
async function addDemo(registry: Registry, parts: Partial<CrateParts> = {}, cksum?: string) {
  return addRelease(registry, await releaseOf(registry, parts, cksum))
}

test('a release is added with its crate, first owner, audit event and marks, and found again', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  const change = await changesBy(registry, 'alice')
  const release = await releaseOf(registry, { name: 'My-Crate' })
  const { outcome, crateId } = await addRelease(registry, release, change)
  assert.equal(outcome, 'added')
  const crate = await findCrate(database, parseName('my_crate'))
  assert.deepEqual(crate, {
    id: crateId,
    name: 'My-Crate',
    createdAt: OPERATOR.at,
    generation: crate?.generation,
  })
  assert.deepEqual(await readCrate(database, crateId), crate)
  assert.equal(await isOwner(database, crateId, change.user?.id ?? 0), true)
  const found = await findRelease(database, crateId, V1)
  assert.equal(found?.publishedBy, 'alice')
  assert.equal(found?.publishedAt, OPERATOR.at)
  assert.equal(found?.yanked, false)
  assert.equal(found?.about.description, 'A crate for tests')
  assert.deepEqual(await listReleases(database, crateId), [found])
  assert.deepEqual(await indexLines(database, crateId), [found?.line])
  const generation = crate?.generation ?? 0
  assert.deepEqual(await listMarks(database, 'index'), [
    { kind: 'index', subject: crateId, generation },
  ])
  const [indexed] = await indexFiles(database, [crateId])
  const file = { kind: 'file', subject: found?.id, generation }
  assert.deepEqual(indexed?.unshown, [{ ...file, version: '1.0.0', cksum: 'a'.repeat(64) }])
  const events = await all<Pick<Row<'audit'>, 'id' | 'action' | 'actor' | 'crate' | 'version'>>(
    database,
    'SELECT id, action, actor, crate, version FROM audit',
  )
  assert.deepEqual(events, [
    { id: generation, action: 'publish', actor: 'alice', crate: 'My-Crate', version: '1.0.0' },
  ])
})

test('the same release again is a success that changes nothing', async t => {
  const registry = await newRegistry(t)
  const change = await changesBy(registry, 'alice')
  const release = await releaseOf(registry, {})
  const { crateId } = await addRelease(registry, release, change)
  const before = await readCrate(registry.database, crateId)
  const again = await addRelease(registry, release, change)
  assert.deepEqual([again.outcome, again.crate], ['present', before])
  assert.deepEqual(await readCrate(registry.database, crateId), before)
  assert.equal((await listReleases(registry.database, crateId)).length, 1)
})

test('a version is taken by other bytes, by another build of it, and after a yank', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  const { crateId } = await addDemo(registry)
  await assert.rejects(addDemo(registry, {}, 'b'.repeat(64)), refuses('version_taken'))
  await assert.rejects(addDemo(registry, { version: '1.0.0+build' }), refuses('version_taken'))
  await setYanked(registry, demo, V1, true, OPERATOR)
  await assert.rejects(
    setYanked(registry, demo, parseVersion('1.0.0+build'), true, OPERATOR),
    (error: unknown) =>
      error instanceof Refusal &&
      error.message ===
        'there is no version 1.0.0+build of `demo` here, but 1.0.0, which differs only in build metadata; name that one',
  )
  await assert.rejects(addDemo(registry), refuses('version_taken'))
  assert.equal((await listReleases(database, crateId)).length, 1)
})

test('a name that differs only by case, - and _ is taken', async t => {
  const registry = await newRegistry(t)
  await addDemo(registry, { name: 'my-crate' })
  for (const name of ['my_crate', 'My-Crate']) {
    const adding = addDemo(registry, { name, version: '2.0.0' }, 'b'.repeat(64))
    await assert.rejects(adding, refuses('name_taken'))
  }
})

test('owners add versions, administrators yank, too, and have a crate without owners in their hands', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  const [alice, bob, admin] = [
    await changesBy(registry, 'alice'),
    await changesBy(registry, 'bob'),
    await changesBy(registry, 'root', true),
  ]
  const next = await releaseOf(registry, { version: '2.0.0' }, 'b'.repeat(64))
  await addRelease(registry, await releaseOf(registry, {}), alice)
  for (const other of [bob, admin])
    await assert.rejects(addRelease(registry, next, other), refuses('not_owner'))
  await assert.rejects(setYanked(registry, demo, V1, true, bob), refuses('not_owner'))
  await setYanked(registry, demo, V1, true, admin)
  await setYanked(registry, demo, V1, false, alice)
  const yanks = `SELECT actor, detail FROM audit WHERE action LIKE '%yank' ORDER BY id`
  assert.deepEqual(await all(database, yanks), [
    { actor: 'root', detail: '{"as":"administrator"}' },
    { actor: 'alice', detail: null },
  ])
  await assert.rejects(
    addRelease(registry, await releaseOf(registry, {}), bob),
    refuses('not_owner'),
  )
  assert.equal((await addRelease(registry, next)).outcome, 'added')

  await addDemo(registry, { name: 'taken-in' }, 'c'.repeat(64))
  const update = await releaseOf(registry, { name: 'taken-in', version: '2.0.0' }, 'd'.repeat(64))
  await assert.rejects(addRelease(registry, update, bob), refuses('crate_ownerless'))
  const takenIn = parseName('taken-in')
  await assert.rejects(setYanked(registry, takenIn, V1, true, bob), (error: Error) => {
    assert.equal(
      error.message,
      '`bob` is not an owner of `taken-in`: it has no owners; ask an administrator',
    )
    return true
  })
  assert.equal((await addRelease(registry, update, admin)).outcome, 'added')
})

test('every objection to a release comes at once', async t => {
  const registry = await newRegistry(t)
  await addRelease(registry, await releaseOf(registry, {}), await changesBy(registry, 'alice'))
  const bob = await changesBy(registry, 'bob')
  const other = await releaseOf(registry, {}, 'b'.repeat(64))
  await assert.rejects(addRelease(registry, other, bob), refuses('not_owner', 'version_taken'))
  // Of a crate that is another one only this is told.
  const namesake = await releaseOf(registry, { name: 'Demo' }, 'b'.repeat(64))
  await assert.rejects(addRelease(registry, namesake, bob), refuses('name_taken'))
})

test('yanking changes the flag in the line and nothing else, once', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  const yanked = (name: Name, isYanked: boolean) =>
    setYanked(registry, name, V1, isYanked, OPERATOR)
  const { crateId } = await addDemo(registry)
  const [before] = await indexLines(database, crateId)
  await settleMarks(database, await listMarks(database, 'index'))
  assert.deepEqual(await yanked(parseName('DEMO'), true), { crateId, changed: true })
  assert.deepEqual(await indexLines(database, crateId), [
    before?.replace('"yanked":false', '"yanked":true'),
  ])
  assert.equal((await listMarks(database, 'index')).length, 1)
  assert.deepEqual(await yanked(demo, true), { crateId, changed: false })
  assert.deepEqual(await yanked(demo, false), { crateId, changed: true })
  assert.deepEqual(await indexLines(database, crateId), [before])
  await assert.rejects(
    setYanked(registry, parseName('none'), V1, true, OPERATOR),
    refuses('crate_unknown'),
  )
  await assert.rejects(
    setYanked(registry, demo, parseVersion('9.0.0'), true, OPERATOR),
    refuses('release_unknown'),
  )
})

test('a mark goes only when nothing has changed since it was read', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  const { crateId } = await addDemo(registry)
  const old = await listMarks(database, 'index')
  await setYanked(registry, demo, V1, true, OPERATOR)
  await settleMarks(database, old)
  const [mark] = await listMarks(database, 'index')
  assert.ok(mark && mark.generation > (old[0]?.generation ?? 0))
  assert.equal(await isMarked(database, { kind: 'index', subject: crateId }), true)
  await settleMarks(database, [mark])
  assert.equal(await isMarked(database, { kind: 'index', subject: crateId }), false)
  assert.deepEqual(await listMarks(database, 'index'), [])
  await settleMarks(database, [])
})

test('marks come oldest first', async t => {
  const registry = await newRegistry(t)
  const ids: number[] = []
  for (const name of ['a', 'b']) {
    const release = await releaseOf(registry, { name: `crate-${name}` }, name.repeat(64))
    ids.push((await addRelease(registry, release)).crateId)
  }
  await setYanked(registry, parseName('crate-a'), V1, true, OPERATOR)
  assert.deepEqual(
    (await listMarks(registry.database, 'index')).map(mark => mark.subject),
    ids.reverse(),
  )
})

test('known and lookAlikes answer what the policy asks', async t => {
  const registry = await newRegistry(t)
  await addDemo(registry, { name: 'Good-Name' })
  const many = Array.from({ length: 1200 }, (_, i) => parseName(`n${i}`))
  const known = await knownNames(registry.database, [...many, parseName('good_name')])
  assert.deepEqual([...known], [[canonicalName(parseName('good_name')), 'Good-Name']])
  assert.deepEqual(
    await findLookAlikes(registry.database, [lookAlikeSkeleton(parseName('g00d-name'))]),
    ['Good-Name'],
  )
  assert.deepEqual(await findLookAlikes(registry.database, ['other']), [])
  assert.deepEqual(await findLookAlikes(registry.database, []), [])
})

test('crates are read in pages, each once', async t => {
  const { database } = await newRegistry(t)
  const expected = Array.from({ length: 1201 }, (_, i) => `n${i}`)
  await run(
    database,
    `INSERT INTO crates (name, canonical, skeleton, created_at, generation)
      SELECT value ->> 0, value ->> 0, '', ?, 0 FROM json_each(?)`,
    OPERATOR.at,
    expected.map(name => [name]),
  )
  const names: string[] = []
  for await (const crate of eachCrate(database)) names.push(crate.name)
  assert.deepEqual(names, expected)
  assert.equal(await crateRecords(database), 1201)
})

test('facts are remembered, changed and forgotten; audit events are kept as they are', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  assert.equal(await readFact(database, 'key'), null)
  await writeFact(database, 'key', 'one')
  await writeFact(database, 'key', 'two')
  assert.equal(await readFact(database, 'key'), 'two')
  await writeFact(database, 'key', null)
  assert.equal(await readFact(database, 'key'), null)
  await addDemo(registry)
  await assert.rejects(run(database, 'DELETE FROM audit'), /audit events are kept/)
  await assert.rejects(run(database, 'UPDATE audit SET actor = ?', 'x'), /audit events are fixed/)
})

test('readme and bytes are found by release and checksum', async t => {
  const registry = await newRegistry(t)
  const release = await releaseOf(registry, { files: { 'src/lib.rs': '', 'README.md': '# Demo' } })
  const { crateId } = await addRelease(registry, release)
  const found = await findRelease(registry.database, crateId, V1)
  assert.equal(await readReadme(registry.database, found?.id ?? 0), '# Demo')
  assert.equal(await readReadme(registry.database, 0), null)
  assert.deepEqual(await releaseOfBytes(registry.database, 'a'.repeat(64)), {
    id: found?.id,
    name: 'demo',
    version: '1.0.0',
  })
  assert.equal(await releaseOfBytes(registry.database, 'b'.repeat(64)), null)
})
