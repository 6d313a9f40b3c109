import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../../generator/database/statement.ts'
import { openRegistry } from '../../../generator/open.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { refuses } from '../../support/served-folder.ts'

test('owner add, list, remove: what they do, and what they refuse', async t => {
  const folder = await registryFolder(t)
  const { ok, put } = folder
  await ok('add', put('demo-1.0.0.crate', { name: 'demo-x', version: '1.0.0' }))
  for (const login of ['alice', 'bob']) await ok('user', 'add', login)
  assert.equal(await ok('owner', 'list', 'demo-x'), '')
  assert.equal(await ok('owner', 'add', 'DEMO_X', 'ALICE'), 'alice owns demo-x\n')
  assert.equal(await ok('owner', 'add', 'demo-x', 'alice'), 'alice owns demo-x, as before\n')
  await refuses({ run: args => folder.run(...args) }, [
    [['owner', 'remove', 'demo-x', 'alice'], 1, /`demo-x` would have no owner left/],
    [['owner', 'remove', 'demo-x', 'bob'], 1, /`bob` is not an owner of `demo-x`/],
    [['owner', 'add', 'demo-x', 'carol'], 1, /there is no user `carol` here/],
    [['owner', 'list', 'other'], 1, /there is no crate `other` here/],
    [['owner', 'list', '../x'], 1, /there is no crate `..\/x` here/],
  ])
  assert.deepEqual(JSON.parse(await ok('owner', 'add', 'demo-x', 'bob', '--json')), {
    crate: 'demo-x',
    user: 'bob',
    changed: true,
  })
  assert.equal(
    await ok('owner', 'remove', 'demo-x', 'alice'),
    'alice does not own demo-x any more\n',
  )
  const owners = JSON.parse(await ok('owner', 'list', 'demo-x', '--json')) as { login: string }[]
  assert.deepEqual(
    owners.map(({ login }) => login),
    ['bob'],
  )
  assert.match(await ok('audit', '--crate', 'demo-x'), /command line +owner-remove +demo-x/)
})

test('token list takes the tokens of a user, those that nobody uses, and those that end soon', async t => {
  const { ok, dir } = await registryFolder(t)
  for (const login of ['alice', 'bob']) await ok('user', 'add', login)
  await ok('token', 'create', '--user', 'alice', '--expires', '10d')
  await ok('token', 'create', '--user', 'bob')
  const ids = async (...options: string[]) =>
    (JSON.parse(await ok('token', 'list', '--json', ...options)) as { id: number }[]).map(
      ({ id }) => id,
    )
  assert.deepEqual(await ids('--user', 'BOB'), [2])
  assert.deepEqual(await ids('--expires-before', '11d'), [1])
  assert.deepEqual(await ids('--expires-before', '9d'), [])
  assert.deepEqual(await ids('--expires-before', '9999-01-01', '--user', 'bob'), [])
  assert.deepEqual(await ids('--unused-since', '1d'), [], 'they are new')
  assert.deepEqual(await ids('--unused-since', '9999-01-01'), [1, 2])
  assert.match(await ok('token', 'list', '--help'), /--unused-since <time>/)
  // One was used, and made, while the clock was years ahead.
  const registry = await openRegistry(dir, { env: {} })
  const ahead = `UPDATE tokens SET created_at = ?, last_used_at = ? WHERE id = 2`
  await run(registry.database, ahead, '2046-11-20T12:00:00Z', '2046-11-20T12:00:00Z')
  await registry.close()
  assert.deepEqual(await ids('--unused-since', '1d'), [2])
})

test('help shows numbers without quotation marks', async t => {
  const { ok } = await registryFolder(t)
  assert.match(await ok('audit', '--help'), /\(default: 100\)/)
})
