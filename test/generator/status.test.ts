import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { run } from '../../generator/database/statement.ts'
import { beginPause, endPause } from '../../generator/records/pause.ts'
import { listFailures, recordFailure, recordMended } from '../../generator/records/values.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { readStatus, warningsOf } from '../../generator/status.ts'
import { plimsollHere } from '../support/program.ts'
import { insertRows } from '../support/rows.ts'
import { newRegistry } from '../support/workplace.ts'

const NOW = new Date('2026-11-20T12:00:00Z')

/** A registry, and what its operator is warned of. */
async function prepared(t: TestContext) {
  const registry = await newRegistry(t)
  const warnings = async (settings: Partial<Registry['settings']> = {}) => {
    const changed = { ...registry, settings: { ...registry.settings, ...settings } }
    const status = await readStatus(changed, NOW, 10)
    return warningsOf({ ...status, git_index_problem: null })
  }
  const user = (login: string, admin: number, locked_at: string | null = null) => {
    const row = { login, canonical: login, admin, locked_at, created_at: '2026-01-01T00:00:00Z' }
    return insertRows(registry.database, 'users', row)
  }
  return { registry, warnings, user }
}

test('tokens for certain crates that were made to read, and do not, are named', async t => {
  const { registry, warnings, user } = await prepared(t)
  await user('ann', 1)
  const token = (scopes: string | null, crates: string | null, rest: object = {}) => {
    const hash = `${scopes} ${crates} ${JSON.stringify(rest)}`
    const at = { created_at: '2026-01-01T00:00:00Z', expires_at: null, revoked_at: null }
    const row = { user_id: 1, name: 'ci', hash, scopes, crates, ...at, ...rest }
    return insertRows(registry.database, 'tokens', row)
  }
  await token('["yank","read"]', '["foo*"]')
  await token('["yank"]', '["foo*"]')
  await token('["read"]', null)
  await token(null, '["foo*"]')
  await token('["read"]', '["foo*"]', { revoked_at: '2026-11-20T11:00:00Z' })
  await token('["read"]', '["foo*"]', { expires_at: '2026-11-20T12:00:00Z' })
  await token('["read"]', '["foo*"]', { expires_at: '2026-11-20T12:00:01Z' })
  const words = (ids: string) =>
    `tokens for certain crates cannot read, because reading is not limited by crate: ${ids}; whoever has to read needs a token for all crates`
  assert.deepEqual(await warnings(), [words('1 of ann, 7 of ann')])
  const auth = { ...registry.settings.auth, required: true }
  assert.deepEqual(await warnings({ auth }), [words('1 of ann, 4 of ann, 7 of ann')])
})

test('users without an administrator are warned of, with the command that makes one', async t => {
  const { registry, warnings, user } = await prepared(t)
  assert.deepEqual(await warnings(), [], 'without users the first one will be')
  await user('ann', 0)
  await user('bob', 1, '2026-01-01T00:00:00Z')
  const [warning = '', ...others] = await warnings()
  assert.match(warning, /^there is no administrator, .*`plimsoll user promote NAME` makes/)
  assert.deepEqual(others, [])
  await run(registry.database, `UPDATE users SET admin = 1 WHERE login = 'ann'`)
  assert.deepEqual(await warnings(), [])
})

test('a pause, and a move that copies the records, are warnings while they last', async t => {
  const { registry, warnings } = await prepared(t)
  const { database } = registry
  assert.deepEqual(await warnings(), [])
  const place = 'postgres://plimsoll@db.example.com/plimsoll'
  await database.transaction(tx => beginPause(tx, 600))
  assert.match(String(await warnings()), /^paused until 20.*Z; `plimsoll resume` ends it$/)
  await database.transaction(tx => beginPause(tx, 60, place))
  assert.ok(String(await warnings()).includes(place))
  await endPause(database)
  assert.deepEqual(await warnings(), [])
})

test('status shows the last failure of each kind of background work', async t => {
  const registry = await newRegistry(t)
  assert.deepEqual(await listFailures(registry.database), [])
  const build = { what: 'build', at: '2026-11-20T12:00:00Z', why: 'the disk is full' }
  await recordFailure(registry.database, { ...build, at: '2026-11-20T11:00:00Z' })
  await recordFailure(registry.database, build)
  const git = { what: 'git index', at: '2026-11-20T13:00:00Z', why: 'git is gone' }
  await recordFailure(registry.database, git)
  assert.deepEqual(await listFailures(registry.database), [build, git])
  const mended = '2026-11-20T14:00:00Z'
  for (const at of [mended, '2026-11-20T15:00:00Z'])
    await recordMended(registry.database, 'git index', at)
  await recordMended(registry.database, 'downloads', mended)
  const { stdout } = await plimsollHere(['status', '--dir', registry.dir])
  assert.match(
    stdout,
    /^error {5}2026-11-20T12:00:00Z build, not mended: the disk is full\nerror {5}2026-11-20T13:00:00Z git index, mended at 2026-11-20T14:00:00Z: git is gone\n/m,
  )
  const json = await plimsollHere(['status', '--dir', registry.dir, '--json'])
  assert.deepEqual(JSON.parse(json.stdout).last_errors, [build, { ...git, mended }])
})
