// Mirrors generator/records/: failures of background work
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listFailures, recordFailure } from '../../../generator/records/facts.ts'
import { plimsollHere } from '../../support/program.ts'
import { newRegistry } from '../../support/workplace.ts'

test('status shows the last failure of each kind of background work', async t => {
  const registry = await newRegistry(t)
  assert.deepEqual(await listFailures(registry.database), [])
  const build = { what: 'build', at: '2026-11-20T12:00:00Z', why: 'the disk is full' }
  await recordFailure(registry.database, { ...build, at: '2026-11-20T11:00:00Z' })
  await recordFailure(registry.database, build)
  const git = { what: 'git index', at: '2026-11-20T13:00:00Z', why: 'git is gone' }
  await recordFailure(registry.database, git)
  assert.deepEqual(await listFailures(registry.database), [build, git])
  const { stdout } = await plimsollHere(['status', '--dir', registry.dir])
  assert.match(
    stdout,
    /^error {5}2026-11-20T12:00:00Z build: the disk is full\nerror {5}2026-11-20T13:00:00Z git index: git is gone\n/m,
  )
  const json = await plimsollHere(['status', '--dir', registry.dir, '--json'])
  assert.deepEqual(JSON.parse(json.stdout).last_errors, [build, git])
})
