// Mirrors generator/records/advisories/change.ts.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeAdvisories } from '../../../generator/advisories/update.ts'
import { all, column, run } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { recordWebhooks } from '../../../generator/webhooks/events.ts'
import { messageOf } from '../../../generator/webhooks/sender.ts'
import { osvFile } from '../../support/advisories.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'

type Delivery = Readonly<Record<'message' | 'type' | 'at' | 'data', string>>

test('webhooks are told once of each advisory and crate, and again when it covers more', async t => {
  const app = await TestRegistry.open(t)
  const { registry } = app
  const token = await app.user('alice')
  for (const version of ['1.0.0', '2.0.0']) await app.publish(token, { name: 'demo', version })
  await app.publish(token, { name: 'other', version: '1.0.0' })
  const hook = { name: 'ci', url: 'https://ci.example/', secret_file: 'none', private: false }
  await recordWebhooks(registry.database, { ci: { ...hook, events: ['advisory.matched'] } })
  const ecosystem = `crates.io:sparse+${BASE}/index/`
  const part = (name: string, introduced: string, fixed: string) => ({
    package: { ecosystem, name },
    ranges: [{ type: 'SEMVER', events: [{ introduced }, { fixed }] }],
  })
  mkdirSync(join(app.dir, 'advisories'))
  const take = async (...affected: object[]): Promise<Delivery[]> => {
    const file = osvFile({ id: 'ACME-2026-0001', summary: 'A secret', affected })
    writeFileSync(join(app.dir, 'advisories', 'a.json'), file)
    const change = operatorChange('2026-11-20T12:00:00Z')
    assert.deepEqual(await takeAdvisories(registry, change), [])
    const told = await all<Delivery>(registry.database, 'SELECT * FROM deliveries ORDER BY id')
    await run(registry.database, 'DELETE FROM deliveries')
    return told
  }
  const told = await take(
    part('demo', '0', '1.5.0'),
    part('demo', '1.8.0', '2.5.0'),
    part('other', '0', '2.0.0'),
  )
  const data = (isPrivate: boolean) =>
    told.map(each => {
      const { type, data } = JSON.parse(messageOf(each, isPrivate).body)
      const { generation: _, ...more } = data
      return [type, more]
    })
  const event = {
    advisory: 'ACME-2026-0001',
    title: 'A secret',
    severity: null,
    informational: null,
  }
  assert.deepEqual(data(false), [
    ['advisory.matched', { crate: 'demo', ...event, actor: 'command line' }],
    ['advisory.matched', { crate: 'other', ...event, actor: 'command line' }],
  ])
  assert.deepEqual(data(true), [
    ['advisory.matched', { crate: 'demo', advisory: 'ACME-2026-0001' }],
    ['advisory.matched', { crate: 'other', advisory: 'ACME-2026-0001' }],
  ])
  assert.deepEqual(await take(part('demo', '0', '1.5.0')), [])
  const crates = (await take(part('demo', '0', '3.0.0'))).map(each => JSON.parse(each.data).crate)
  assert.deepEqual(crates, ['demo'])
  // A version that is published later is covered, too; one that is not, and a retry, tell nothing.
  const toldAt = async (version: string) => {
    await app.publish(token, { name: 'demo', version })
    const sql = "SELECT data FROM deliveries WHERE type = 'advisory.matched'"
    const data = await column<string>(registry.database, sql)
    await run(registry.database, 'DELETE FROM deliveries')
    return data.map(text => JSON.parse(text).advisory)
  }
  assert.deepEqual(await toldAt('2.5.0'), ['ACME-2026-0001'])
  assert.deepEqual(await toldAt('2.5.0'), [])
  assert.deepEqual(await toldAt('3.0.0'), [])
})
