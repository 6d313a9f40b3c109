// Mirrors generator/records/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { parseName } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import { parseVersion } from '../../../core/version.ts'
import { all, insert, run } from '../../../generator/database/statement.ts'
import { type Change, userIdOf } from '../../../generator/records/change.ts'
import { crateRecords, eachCrate, findCrate } from '../../../generator/records/crates.ts'
import { settleMarks } from '../../../generator/records/marks.ts'
import { isDirectOwner } from '../../../generator/records/owners.ts'
import { indexFiles, listReleases } from '../../../generator/records/releases.ts'
import {
  followReleases,
  insertAdded,
  setYanked,
} from '../../../generator/records/releases-changes.ts'
import { inspect } from '../../../generator/registry/changes/check.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { buildCrate, type CrateParts } from '../../support/crate-builder.ts'
import { refusedWith } from '../../support/refusal.ts'
import { listMarks } from '../../support/rows.ts'
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
  const stillMay = async () => user
  return { at: OPERATOR.at, actor: login, who: 'user', user, tokenId: null, stillMay }
}

async function addRelease(registry: Registry, release: Release, change: Change = OPERATOR) {
  return registry.database.transaction(async tx => {
    const added = await insertAdded(tx, release, change)
    await followReleases(tx, registry.followers, [added])
    return { ...added, crateId: added.crate.id }
  })
}

/** Adds `demo` 1.0.0, with changes. */
async function addDemo(registry: Registry, parts: Partial<CrateParts> = {}, change = OPERATOR) {
  return addRelease(registry, await releaseOf(registry, parts), change)
}

test('a release is added with its crate, first owner and audit event, and found by any spelling', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  const alice = await changesBy(registry, 'alice')
  const { outcome, crateId } = await addDemo(registry, { name: 'My-Crate' }, alice)
  assert.equal(outcome, 'added')
  const crate = await findCrate(database, parseName('my_crate'))
  assert.deepEqual([crate?.id, crate?.name, crate?.createdAt], [crateId, 'My-Crate', OPERATOR.at])
  assert.equal(await isDirectOwner(database, crateId, userIdOf(alice) ?? 0), true)
  const [release, ...others] = await listReleases(database, crateId)
  assert.deepEqual([release?.publishedBy, release?.publishedAt, others], ['alice', OPERATOR.at, []])
  const lines = async () => (await indexFiles(database, [crateId]))[0]?.text
  assert.equal(await lines(), `${release?.line}\n`)
  const events = await all(database, 'SELECT id, action, actor, crate, version FROM audit')
  const event = { action: 'publish', actor: 'alice', crate: 'My-Crate', version: '1.0.0' }
  assert.deepEqual(events, [{ id: crate?.generation, ...event }])
  for (const name of ['my_crate', 'my-crate'])
    await assert.rejects(addDemo(registry, { name, version: '2.0.0' }), refusedWith('name_taken'))
})

test('a version is taken by other bytes, by another build of it, and after a yank', async t => {
  const registry = await newRegistry(t)
  const { crateId } = await addDemo(registry)
  const other = await releaseOf(registry, {}, 'b'.repeat(64))
  await assert.rejects(addRelease(registry, other), refusedWith('version_taken'))
  await assert.rejects(addDemo(registry, { version: '1.0.0+build' }), refusedWith('version_taken'))
  await setYanked(registry, demo, V1, true, OPERATOR)
  await assert.rejects(
    setYanked(registry, demo, parseVersion('1.0.0+build'), true, OPERATOR),
    (error: unknown) =>
      error instanceof Refusal &&
      error.message ===
        'there is no version 1.0.0+build of `demo` here, but 1.0.0, which differs only in build metadata; name that one',
  )
  await assert.rejects(addDemo(registry), refusedWith('version_taken'))
  assert.equal((await listReleases(registry.database, crateId)).length, 1)
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
  await addDemo(registry, {}, alice)
  for (const other of [bob, admin])
    await assert.rejects(addRelease(registry, next, other), refusedWith('not_owner'))
  await assert.rejects(setYanked(registry, demo, V1, true, bob), refusedWith('not_owner'))
  await setYanked(registry, demo, V1, true, admin)
  await setYanked(registry, demo, V1, false, alice)
  const yanks = `SELECT actor, detail FROM audit WHERE action LIKE '%yank' ORDER BY id`
  assert.deepEqual(await all(database, yanks), [
    { actor: 'root', detail: '{"as":"administrator"}' },
    { actor: 'alice', detail: null },
  ])
  await assert.rejects(addDemo(registry, {}, bob), refusedWith('not_owner'))
  // Of a crate that is another one only this is told.
  await assert.rejects(addDemo(registry, { name: 'Demo' }, bob), refusedWith('name_taken'))
  assert.equal((await addRelease(registry, next)).outcome, 'added')

  await addDemo(registry, { name: 'taken-in' })
  const update = await releaseOf(registry, { name: 'taken-in', version: '2.0.0' }, 'd'.repeat(64))
  await assert.rejects(addRelease(registry, update, bob), refusedWith('crate_ownerless'))
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

test('yanking changes the flag in the line and nothing else, once', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  const yanked = (isYanked: boolean, name = demo, version = V1) =>
    setYanked(registry, name, version, isYanked, OPERATOR)
  const { crateId } = await addDemo(registry)
  const crate = { crateId, name: demo }
  const lines = async () => (await indexFiles(database, [crateId]))[0]?.text
  const before = (await lines()) ?? ''
  await settleMarks(database, await listMarks(database, 'index'))
  assert.deepEqual(await yanked(true, parseName('DEMO')), { ...crate, changed: true })
  const after = before.replace('"yanked":false', '"yanked":true')
  assert.equal(await lines(), after)
  assert.equal((await listMarks(database, 'index')).length, 1)
  assert.deepEqual(await yanked(true), { ...crate, changed: false })
  assert.deepEqual(await yanked(false), { ...crate, changed: true })
  assert.equal(await lines(), before)
  await assert.rejects(yanked(true, parseName('none')), refusedWith('crate_unknown'))
  await assert.rejects(yanked(true, demo, parseVersion('9.0.0')), refusedWith('release_unknown'))
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

test('audit events are kept as they are', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  await addDemo(registry)
  await assert.rejects(run(database, 'DELETE FROM audit'), /audit events are kept/)
  await assert.rejects(run(database, 'UPDATE audit SET actor = ?', 'x'), /audit events are fixed/)
})
