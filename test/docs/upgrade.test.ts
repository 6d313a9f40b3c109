// Mirrors docs/run/upgrade.md
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { levelOf } from '../../generator/database/migrations.ts'
import { openRegistry } from '../../generator/open.ts'
import { PLIMSOLL, type Program } from '../../generator/projections/context.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { sumsBelow } from '../support/folder.ts'
import { root } from '../support/plimsoll.ts'
import { plimsollHere, serveHere } from '../support/program.ts'
import { publishTo } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'

/**
 * The folder that commands of 0.1.0 made, and its `backup.tar`: `keel` 1.0.0 and 1.1.0, which is
 * yanked, `mast` 0.1.0, and alice with a token.
 */
const RELEASED = join(root, 'test', 'fixtures', 'registry-0.1.0.tar.gz')
const TOKEN = 'plim_ySPhnXJyLlDUA17WuG96t1liofLgDISZZ4Yha5'
const LAST_STEP = '027_search_version'

/** 0.1.0, as far as a database is concerned. */
const OLDER: Program = {
  ...PLIMSOLL,
  version: '0.1.0',
  steps: Object.fromEntries(Object.entries(PLIMSOLL.steps).filter(([name]) => name <= LAST_STEP)),
}

test('a registry folder of 0.1.0 is upgraded with all it has, and one step back works as described', async t => {
  const folder = scratch(new Cleanup(t))
  const unpack = ['-xzf', RELEASED, '-C', folder]
  expectCode('tar', await run('tar', unpack, { cwd: folder, env: process.env }), 0)
  const dir = join(folder, 'registry')
  const file = join(dir, 'plimsoll.db')
  const said = async (...args: readonly string[]) =>
    expectCode(args.join(' '), await plimsollHere([...args, '--dir', dir]), 0)
  const lasting = () => ['crates', 'public/index'].map(name => sumsBelow(join(dir, name)))
  const before = lasting()

  const read = await plimsollHere(['status', '--dir', dir])
  assert.equal(read.code, 1)
  assert.match(read.stderr, new RegExp(`it has the step ${LAST_STEP}, .*docs/run/upgrade\\.md`))
  const steps = `from the step ${LAST_STEP} to the step ${levelOf(PLIMSOLL)}`
  const built = await said('build')
  assert.ok(built.stderr.startsWith(`upgrading ${file} ${steps}\n`))
  assert.equal(built.stdout, 'rendered 2 crates\n')
  assert.deepEqual(lasting(), before)
  // Pages of files that 0.1.0 wrote are left until then.
  await said('build', '--all')
  assert.deepEqual(lasting(), before)
  assert.match((await said('verify')).stdout, /^everything agrees$/m)
  assert.match((await said('token', 'list')).stdout, /^1 +alice +ci /m)
  assert.match((await said('audit')).stdout, /yank.*keel/)

  await t.test('its token publishes', async inner => {
    const { url } = await serveHere(new Cleanup(inner), dir)
    const answer = await publishTo(url, TOKEN, { name: 'rib', version: '1.0.0' })
    assert.equal('warnings' in ((await answer.json()) as object), true)
  })

  await assert.rejects(
    openRegistry(dir, { env: {}, program: OLDER }),
    /was written by a newer version of Plimsoll than this one, which is 0\.1\.0 .*restore a backup/,
  )
  assert.match((await said('verify')).stdout, /^everything agrees$/m)
  const back = ['--dir', join(folder, 'registry-old')]
  const added = join(dir, 'crates', '3', 'r', 'rib')
  for (const words of [['restore', join(folder, 'backup.tar')], ['add', added], ['verify']])
    expectCode(words.join(' '), await plimsollHere([...words, ...back]), 0)
  const status = await plimsollHere(['status', '--json', ...back])
  const { crates, releases, users } = JSON.parse(status.stdout) as Record<string, unknown>
  assert.deepEqual([crates, releases, users], [3, 4, 1])
})
