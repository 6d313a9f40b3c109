import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sha256 } from '../../../core/sha256.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { TestRegistry } from '../../support/registry.ts'
import { encodePublish, plainMetadata } from '../../support/release.ts'
import { listMarks } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

test('50 publishes of different crates at once by one user all land, and so do 50 yanks', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const names = Array.from({ length: 50 }, (_, i) => `crate-${String(i).padStart(2, '0')}`)
  const answers = await Promise.all(
    names.map(name => test.publish(token, { name, version: '1.0.0' })),
  )
  for (const [i, { status, body }] of answers.entries()) {
    const others = body.warnings?.other.filter(text => !text.includes('easily mistaken for'))
    assert.deepEqual([status, others], [200, []], names[i])
  }
  for (const name of names) {
    const line = (await test.shown(`index/cr/at/${name}`)) ?? ''
    const crate = readFileSync(join(test.registry.tree.root, 'crates', name, `${name}-1.0.0.crate`))
    assert.equal(JSON.parse(line).cksum, sha256(crate))
  }
  // The marks go with a sync that publishes share, after their answers.
  const isClear = async () => (await listMarks(test.registry.database, 'index')).length === 0
  await until(isClear, 'some index file is still marked')
  const yanks = await Promise.all(
    names.map(name => test.request('DELETE', `/api/v1/crates/${name}/1.0.0/yank`, token)),
  )
  assert.deepEqual(new Set(yanks.map(answer => answer.status)), new Set([200]))
})

test('50 publishes at once of one version with different bytes: exactly one wins, with its own bytes', async t => {
  const test = await TestRegistry.open(t)
  const [alice, bob] = [await test.user('alice'), await test.user('bob')]
  const parts = { name: 'race', version: '1.0.0' }
  const bytes = Array.from({ length: 50 }, (_, i) =>
    buildCrate({ ...parts, files: { 'src/lib.rs': `pub const I: usize = ${i};` } }),
  )
  const bodies = bytes.map(crate => encodePublish(plainMetadata('race', '1.0.0'), crate))
  const answers = await Promise.all(
    bodies.map((body, i) => test.publishBody(i % 2 === 0 ? alice : bob, body)),
  )
  const won = answers.flatMap((answer, i) => (answer.body.warnings ? [i] : []))
  assert.equal(won.length, 1)
  const winner = won[0] ?? -1
  for (const [i, { status, body }] of answers.entries()) {
    if (i === winner) continue
    const told = body.errors?.map(
      ({ detail }) => /is not an owner|already exists/.exec(detail)?.[0],
    )
    const expected = i % 2 === winner % 2 ? [] : ['is not an owner']
    assert.deepEqual([status, told], [200, [...expected, 'already exists']], String(i))
  }
  const line = JSON.parse(await test.text('index/ra/ce/race'))
  const shown = readFileSync(join(test.registry.tree.root, 'crates/race/race-1.0.0.crate'))
  assert.deepEqual(shown, Buffer.from(bytes[winner] ?? []))
  assert.equal(line.cksum, sha256(shown))
  const incoming = readdirSync(join(test.dir, 'crates', 'incoming'))
  assert.deepEqual(incoming, [], 'the losers leave no half-written file')
})

test('yanks and publishes of one crate at once leave what the last of each said', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  const yank = () => test.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', token)
  const publish = (version: string) => test.publish(token, { name: 'demo', version })
  await Promise.all([yank(), publish('1.1.0'), yank(), publish('1.2.0'), yank()])
  const lines = ((await test.shown('index/de/mo/demo')) ?? '').trimEnd().split('\n')
  const state = lines.map(line => JSON.parse(line) as { vers: string; yanked: boolean })
  assert.deepEqual(state.map(({ vers, yanked }) => [vers, yanked]).sort(), [
    ['1.0.0', true],
    ['1.1.0', false],
    ['1.2.0', false],
  ])
  const { audit } = await test.everything()
  assert.equal((audit as { action: string }[]).filter(event => event.action === 'yank').length, 1)
})
