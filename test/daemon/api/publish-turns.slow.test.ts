import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCrate } from '../../support/crate-builder.ts'
import { TestRegistry } from '../../support/registry.ts'
import { encodePublish, plainMetadata, u32 } from '../../support/release.ts'

/** The most archives of somebody else that are read while a publish waits for its turn. */
const TURNS = 5

/** A small publish that unpacks to 100 MiB and is refused after it was read. */
function costlyPublish(): Uint8Array<ArrayBuffer> {
  const zeros = new Uint8Array(100 * 1024 * 1024)
  const crate = buildCrate({ name: 'costly', version: '1.0.0', files: { 'src/lib.rs': '', zeros } })
  return encodePublish(plainMetadata('costly', '2.0.0'), crate)
}

test("one user's costly archives delay nobody else's publish", async t => {
  const test = await TestRegistry.open(t)
  const [mallory, alice] = [await test.user('mallory'), await test.user('alice')]
  const body = costlyPublish()
  let refused = 0
  const attacks = Array.from({ length: 60 }, async () => {
    await test.publishBody(mallory, body)
    refused++
  })
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    const before = refused
    const answer = await test.publish(alice, { name: 'honest', version })
    assert.equal(answer.body.errors, undefined)
    assert.ok(refused - before <= TURNS, `${refused - before} others went before`)
  }
  await Promise.all(attacks)
  const answer = await test.request('PUT', '/api/v1/crates/new', mallory, { body })
  assert.equal(answer.status, 429)
  assert.ok(Number(answer.headers.get('retry-after')) > 1)
  const slowed = test.logged.map(line => JSON.parse(line)).filter(line => line.wait !== undefined)
  assert.ok(slowed.length > 0)
  assert.ok(slowed.every(line => line.user === 'mallory' && line.seconds > 0))
  assert.equal((await test.publish(alice, { name: 'honest', version: '2.0.0' })).status, 200)
})

test('the time of costly metadata counts toward the publishes of its user', async t => {
  const test = await TestRegistry.open(t)
  const mallory = await test.user('mallory')
  const deep = Buffer.from('['.repeat(test.registry.settings.limits.metadata_bytes))
  const body = new Uint8Array(Buffer.concat([u32(deep.length), deep, u32(0)]))
  const send = async () =>
    (await test.request('PUT', '/api/v1/crates/new', mallory, { body })).status
  let status = await send()
  // Fewer than `limits.publish_per_minute` would take if they were counted as cheap.
  for (let sent = 1; status !== 429 && sent < 200; sent++) status = await send()
  assert.equal(status, 429)
})
