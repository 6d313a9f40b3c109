import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { listMarks } from '../../../generator/records/marks.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { TestRegistry } from '../../support/registry.ts'
import { encodePublish, plainMetadata } from '../../support/release.ts'
import { until } from '../../support/until.ts'

test('50 publishes of different crates at once by one user all land, and so do 50 yanks', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const names = Array.from({ length: 50 }, (_, i) => `crate-${String(i).padStart(2, '0')}`)
  const answers = await Promise.all(
    names.map(name => test.publish(token, { name, version: '1.0.0' })),
  )
  const clear = { warnings: { invalid_categories: [], invalid_badges: [], other: [] } }
  for (const [i, answer] of answers.entries()) {
    const lookAlikes =
      answer.body.warnings?.other.filter(warning => warning.includes('easily mistaken for')) ?? []
    const expected = { ...clear, warnings: { ...clear.warnings, other: lookAlikes } }
    assert.deepEqual(answer, { status: 200, body: expected }, names[i])
  }
  for (const name of names) {
    const line = (await test.shown(`index/cr/at/${name}`)) ?? ''
    const crate = readFileSync(join(test.registry.tree.root, 'crates', name, `${name}-1.0.0.crate`))
    assert.equal(
      (JSON.parse(line) as { cksum: string }).cksum,
      createHash('sha256').update(crate).digest('hex'),
    )
  }
  // The marks go with a sync that publishes share, after their answers.
  const isClear = async () => (await listMarks(test.registry.database, 'index')).length === 0
  await until(isClear, () => 'some index file is still marked')
  const yanks = await Promise.all(
    names.map(name => test.request('DELETE', `/api/v1/crates/${name}/1.0.0/yank`, token)),
  )
  assert.deepEqual(new Set(yanks.map(answer => answer.status)), new Set([200]))
})

test('50 publishes at once of one version with different bytes: exactly one wins, with its own bytes', async t => {
  const test = await TestRegistry.open(t)
  const [alice, bob] = [await test.user('alice'), await test.user('bob')]
  const bytes = Array.from({ length: 50 }, (_, i) =>
    buildCrate({
      name: 'race',
      version: '1.0.0',
      files: { 'src/lib.rs': `pub const I: usize = ${i};` },
    }),
  )
  const metadata = plainMetadata('race', '1.0.0')
  const answers = await Promise.all(
    bytes.map((crate, i) =>
      test.publishBody(i % 2 === 0 ? alice : bob, encodePublish(metadata, crate)),
    ),
  )
  const won = answers.flatMap((answer, i) => (answer.body.warnings ? [i] : []))
  assert.equal(won.length, 1)
  const winner = won[0] ?? -1
  const exists = {
    detail: '`race` 1.0.0 already exists; a published version never changes, publish a new one',
  }
  const login = winner % 2 === 0 ? 'bob' : 'alice'
  const notOwner = {
    detail: `\`${login}\` is not an owner of \`race\`; ask one of its owners for \`cargo owner --add ${login}\``,
  }
  for (const [i, { status, body }] of answers.entries()) {
    if (i === winner) continue
    const expected = i % 2 === winner % 2 ? [exists] : [notOwner, exists]
    assert.deepEqual([status, body], [200, { errors: expected }], String(i))
  }
  const line = JSON.parse((await test.shown('index/ra/ce/race')) ?? '') as { cksum: string }
  const shown = readFileSync(join(test.registry.tree.root, 'crates/race/race-1.0.0.crate'))
  assert.deepEqual(shown, Buffer.from(bytes[winner] ?? []))
  assert.equal(line.cksum, createHash('sha256').update(shown).digest('hex'))
  assert.deepEqual(
    readdirSync(join(test.dir, 'crates', 'incoming')),
    [],
    'the losers leave no half-written file',
  )
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
