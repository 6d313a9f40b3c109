import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStatus, warningsOf } from '../../generator/status.ts'
import { beginPause, endPause } from '../../generator/store/catalog/pause.ts'
import { newRegistry } from '../support/workplace.ts'

test('a pause, and a move that copies the records, are warnings while they last', async t => {
  const registry = await newRegistry(t)
  const { database } = registry
  const warnings = async () => {
    const status = await readStatus(registry, new Date(), 10)
    return warningsOf({ ...status, git: { ...status.git, problem: null } })
  }
  assert.deepEqual(await warnings(), [])
  const place = 'postgres://plimsoll@db.example.com/plimsoll'
  await database.transaction().execute(tx => beginPause(tx, 600))
  assert.match(String(await warnings()), /^paused until 20.*Z; `plimsoll resume` ends it$/)
  await database.transaction().execute(tx => beginPause(tx, 60, place))
  assert.ok(String(await warnings()).includes(place))
  await endPause(database)
  assert.deepEqual(await warnings(), [])
})
