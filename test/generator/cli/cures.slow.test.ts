// Mirrors core/error/messages/: the commands that messages name.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { buildEvil } from '../../support/crate-builder.ts'
import { filesBelow } from '../../support/folder.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { type RegistryFolder, registryFolder } from '../../support/registry-folder.ts'

/** What has become of a version, by crate, and the commands that made it so. */
const STATES: Readonly<Record<string, (it: RegistryFolder, file: string) => Promise<unknown>>> = {
  plain: async () => undefined,
  yanked: ({ ok }) => ok('yank', 'yanked@1.0.0', '--reason', 'broken'),
  deprecated: ({ ok }) => ok('deprecate', 'deprecated', '--reason', 'old'),
  returned: async ({ ok }, file) => {
    await ok('delete', 'returned@1.0.0', '--yes')
    await ok('add', file)
  },
  reowned: async ({ ok }) => {
    await ok('owner', 'add', 'reowned', 'bob')
    await ok('owner', 'remove', 'reowned', 'ann')
    await ok('trust', 'only', 'reowned')
  },
  odd: async () => undefined,
}

async function start(t: TestContext) {
  const it = await registryFolder(t)
  for (const user of ['ann', 'bob']) await it.ok('user', 'add', user)
  for (const name of Object.keys(STATES)) {
    const parts = { name, version: '1.0.0' }
    it.put(`old/${name}.crate`, name === 'odd' ? buildEvil('same path twice', parts) : parts)
  }
  const old = join(it.folder, 'old')
  await it.ok('import', '--as', 'crates', old, '--owner', 'ann')
  for (const [name, make] of Object.entries(STATES)) await make(it, join(old, `${name}.crate`))
  await it.ok('build')
  return { ...it, old }
}

const index = (dir: string) => {
  const below = join(dir, 'public/index')
  return filesBelow(below).map(path => [path, readFileSync(join(below, path), 'utf8')])
}

test('every cure of lost bytes, files and records works, whatever has become of the version', async t => {
  const it = await start(t)
  const { folder, dir, old, ok, run } = it
  const before = index(dir)
  await ok('backup', join(folder, 'one.tar'))
  const lose = (...parts: string[]) => {
    for (const part of parts) rmSync(join(dir, part), { recursive: true })
  }
  const lost = ['crates', 'public']
  const cures: Readonly<Record<string, () => Promise<unknown>>> = {
    async 'plimsoll add FILE'() {
      lose(...lost)
      for (const file of readdirSync(old))
        await ok('add', join(old, file), '--set', 'policy.preset=public')
    },
    async 'plimsoll verify --repair'() {
      lose('crates', 'public/index')
      await ok('verify', '--repair')
    },
    async 'plimsoll build --all'() {
      lose(...lost)
      execFileSync('tar', ['-xf', join(folder, 'one.tar'), '-C', folder])
      cpSync(join(folder, 'plimsoll-backup/crates'), join(dir, 'crates'), { recursive: true })
      await ok('build', '--all')
    },
    async 'plimsoll resume'() {
      lose(...lost)
      await ok('pause')
      const refused = await run('add', old)
      assert.match(refused.stderr, /operators end a pause with `plimsoll resume`/)
      await ok('resume')
      await ok('add', old)
    },
    async 'plimsoll restore'() {
      lose('')
      await ok('restore', join(folder, 'one.tar'))
      await ok('build')
    },
    async 'plimsoll import'() {
      cpSync(join(dir, 'public'), join(folder, 'public'), { recursive: true })
      lose('')
      await ok('init', '--base-url', 'https://crates.example')
      await ok('import', join(folder, 'public'))
      await ok('build')
    },
  }
  for (const [cure, play] of Object.entries(cures)) {
    await play()
    await ok('build')
    assert.equal(await ok('verify'), 'everything agrees\n', cure)
    assert.deepEqual(index(dir), before, cure)
  }
})

test('every cure of a version of an upstream works in each of its states, and says how it is shown', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const { folder, ok, run } = await registryFolder(t, {
    PLIMSOLL_GIT_INDEX: 'off',
    PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
    PLIMSOLL_UPSTREAM_UP_HOLD: '7d',
    PLIMSOLL_UPSTREAM_UP_DENY: 'denied',
  })
  const names = ['shown', 'held', 'denied', 'gone', 'changed', 'yanked']
  const lines = new Map<string, string>()
  for (const name of names) {
    const year = name === 'held' ? 2999 : 2020
    lines.set(name, made.publish({ name, pubtime: `${year}-01-01T00:00:00Z` }))
    made.publish({ name, version: '0.9.0', pubtime: '2019-01-01T00:00:00Z' })
  }
  await ok('upstream', 'fetch', '--crate', ...names.filter(name => name !== 'denied'))
  made.edit('gone', all => all.slice(1))
  made.edit('changed', all => all.map(line => line.replace('"features":{}', '"features":{"a":[]}')))
  made.yank('yanked', '1.0.0')
  const tell = async (verb: string, name: string) =>
    (await ok('upstream', verb, `${name}@1.0.0`, '--upstream', 'up')).trim()
  const states = async () => {
    const rows = []
    for (const name of names) {
      const [row] = JSON.parse(await ok('upstream', 'explain', `${name}@1.0.0`, '--json'))
      rows.push([name, row.state, row.changed])
    }
    return rows
  }
  const shown = [
    ['shown', 'shown', false],
    ['held', 'held', false],
    ['denied', 'denied', false],
    ['gone', 'gone', true],
    ['changed', 'shown', true],
    ['yanked', 'yanked', false],
  ]
  assert.deepEqual(await states(), shown)
  for (const name of names) {
    const explained = await tell('explain', name)
    const told = await tell('allow', name)
    if (name !== 'held') assert.ok(told.endsWith(explained), told)
    else assert.match(told, /held@1\.0\.0 is shown$/)
  }
  assert.deepEqual(
    await states(),
    shown.map(row => (row[0] === 'held' ? ['held', 'shown', false] : row)),
  )
  for (const name of names) {
    const file = join(folder, 'Cargo.lock')
    const { vers, cksum } = JSON.parse(lines.get(name) ?? '')
    writeFileSync(
      file,
      `[[package]]\nname = "${name}"\nversion = "${vers}"\nsource = "registry+${made.index}"\nchecksum = "${cksum}"\n`,
    )
    const { code, stderr } = await run('upstream', 'fetch', '--lock', file)
    assert.equal(code, name === 'denied' ? 1 : 0, stderr)
    assert.match(stderr, name === 'denied' ? /upstream\.up\.deny/ : /^$/)
    assert.equal((await run('export', '--lock', file, '--as', 'vendor', `${name}-out`)).code, code)
  }
  for (const name of names)
    for (const version of ['1.0.0', '0.9.0']) await ok('upstream', 'accept', `${name}@${version}`)
  assert.doesNotMatch(await ok('status'), /^alarm/m)
})
