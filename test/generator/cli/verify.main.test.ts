// Mirrors generator/cli/maintenance/verify.ts
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { openRegistry } from '../../../generator/open.ts'
import { setYanked } from '../../../generator/records/releases-changes.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { OPERATOR } from '../../support/workplace.ts'

/** A registry with five crates and a git index; the file of the last. */
async function scene(t: TestContext) {
  const registry = await registryFolder(t, {})
  const files = ['aft', 'bow', 'cabin', 'deck', 'demo'].map(name =>
    registry.put(`${name}.crate`, { name, version: '1.0.0' }),
  )
  await registry.ok('add', ...files)
  assert.equal(await registry.ok('verify'), 'everything agrees\n')
  return registry
}

test('what is still to be rendered is counted and no difference', async t => {
  const { dir, run, ok } = await scene(t)
  const registry = await openRegistry(dir, { env: {} })
  await setYanked(registry, parseName('demo'), parseVersion('1.0.0'), true, OPERATOR)
  await registry.close()
  const verified = await run('verify')
  assert.match(
    verified.stderr,
    /^\d\d outputs are still to be rendered; a daemon or `plimsoll build` renders them\n$/,
  )
  assert.deepEqual([verified.code, verified.stdout], [0, 'everything else agrees\n'])
  const json = await run('verify', '--json')
  assert.deepEqual([json.code, json.stdout, json.stderr], [0, '[]\n', verified.stderr])
  rmSync(join(dir, 'public', 'index', 'ca', 'bi', 'cabin'))
  const wrong = await run('verify')
  assert.deepEqual([wrong.code, wrong.stderr], [1, verified.stderr])
  assert.equal(wrong.stdout, 'index/ca/bi/cabin: is missing\n1 difference, 0 repaired\n')
  const finding = { where: 'index/ca/bi/cabin', what: 'is missing', lost: false }
  const listed = await run('verify', '--json')
  assert.deepEqual([listed.code, JSON.parse(listed.stdout)], [1, [{ ...finding, repaired: false }]])
  const mended = JSON.parse(await ok('verify', '--repair', '--json')) as { where: string }[]
  const same = mended.find(({ where }) => where === finding.where)
  assert.deepEqual(same, { ...finding, repaired: true })
  assert.equal(await ok('verify'), 'everything agrees\n')
})

test('many differences of one cause have one line', async t => {
  const { dir, run } = await scene(t)
  const elsewhere = await run('verify', '--set', 'registry.base_url=https://new.example')
  assert.equal(elsewhere.code, 1)
  const git = /^index\.git:config\.json: differs from the records in the git index\n/m
  assert.match(
    elsewhere.stdout.replace(git, ''),
    /^index\/config\.json: differs from the settings\nrendered with other settings or by another version; run `plimsoll build`: \d+ files, such as crates\/aft\/crate\.json\n\d+ differences, 0 repaired\n$/,
  )
  const titled = await run('verify', '--set', 'registry.title=Another')
  assert.match(
    titled.stdout,
    /^rendered with other settings or by another version; run `plimsoll build`: \d+ files, such as /,
  )
  for (const name of ['aft', 'bow', 'cabin'])
    writeFileSync(join(dir, 'public', 'crates', name, 'crate.json'), '{}')
  const three = await run('verify')
  assert.match(three.stdout, /^(?:crates\/\w+\/crate\.json: the page differs .*\n){3}3 differences/)
})
