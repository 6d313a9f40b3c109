import assert from 'node:assert/strict'
import { test } from 'node:test'
import { undoMove } from '../../generator/migrate/migrate.ts'
import { readStatus, warningsOf } from '../../generator/status.ts'
import { noteChangedRows } from '../../generator/store/database/moves/changed-rows.ts'
import { beginMove } from '../../generator/store/database/moves/move.ts'
import { newRegistry } from '../support/workplace.ts'

test('a move of the records that was begun is a warning until it is given up', async t => {
  const registry = await newRegistry(t)
  const warnings = async () => {
    const status = await readStatus(registry, new Date(), 10)
    return warningsOf({ ...status, git: { ...status.git, problem: null } })
  }
  assert.deepEqual(await warnings(), [])
  const place = 'postgres://plimsoll@db.example.com/plimsoll'
  await registry.database.transaction().execute(async tx => {
    await noteChangedRows(tx)
    await beginMove(tx, { id: '1', side: 'leaving', place, ended_at: null, last: 0 })
  })
  const [warning = '', ...others] = await warnings()
  assert.ok(warning.includes(place) && warning.includes('plimsoll migrate --undo'), warning)
  assert.deepEqual(others, [])
  assert.equal(await undoMove(registry), place)
  assert.deepEqual(await warnings(), [])
})
