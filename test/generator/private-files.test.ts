import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openRegistry } from '../../generator/open.ts'
import { build } from '../../generator/pages/build.ts'
import { openPushFolder } from '../../generator/static/push.ts'
import { Cleanup } from '../support/cleanup.ts'
import { serve } from '../support/plimsoll.ts'
import { addCrate, folderOf, newRegistry, reopen } from '../support/workplace.ts'

/** What other users of the machine may do with the entries of a folder. */
function open(...folders: string[]): string[] {
  const folder = join(...folders)
  return readdirSync(folder).filter(name => (lstatSync(join(folder, name)).mode & 0o077) !== 0)
}

test('what is not public in a registry folder is for its owner alone', async t => {
  const registry = await newRegistry(t)
  await addCrate(registry, { name: 'demo', version: '1.0.0' })
  await build(registry, { all: true })
  const { dir } = registry
  await serve(new Cleanup(t), dir)
  assert.deepEqual(open(dir), ['public'])
  assert.deepEqual(open(dir, 'locks'), [])
  // As versions before have left it.
  const before = readdirSync(join(dir, 'locks'))
  const loose = [...before.map(name => join('locks', name)), 'locks', 'crates', 'plimsoll.toml']
  for (const name of loose) chmodSync(join(dir, name), 0o755)
  // As the operator has it.
  writeFileSync(join(dir, 'notes.txt'), '')
  const elsewhere = join(folderOf(t), 'settings')
  writeFileSync(elsewhere, '', { mode: 0o644 })
  symlinkSync(elsewhere, join(dir, 'plimsoll.original.toml'))
  await reopen(t, dir)
  assert.deepEqual(open(dir), ['notes.txt', 'plimsoll.original.toml', 'public'])
  assert.deepEqual(open(dir, 'locks'), [])
  assert.equal(lstatSync(elsewhere).mode & 0o777, 0o644)
  const shown = lstatSync(join(dir, 'public', 'crates', 'demo', 'demo-1.0.0.crate'))
  assert.equal(shown.mode & 0o777, 0o444, 'readers of the tree still have it')
})

test('folders elsewhere keep their rights, and copies of a bucket are private', async t => {
  const [dir, elsewhere] = [(await newRegistry(t)).dir, folderOf(t)]
  mkdirSync(join(elsewhere, 'crates'), { mode: 0o755 })
  const env = { PLIMSOLL_STORAGE_CRATES: join(elsewhere, 'crates') }
  await (await openRegistry(dir, { env })).close()
  assert.deepEqual(open(elsewhere), ['crates'])
  const bucket = { PLIMSOLL_STORAGE_CRATES: 's3://test/crates' }
  await (await openRegistry(dir, { env: bucket })).close()
  assert.equal(lstatSync(join(dir, 'cache')).mode & 0o777, 0o700)
})

test('nobody else can lock out those who push to a folder', async t => {
  const folder = folderOf(t)
  const { place, close } = await openPushFolder(folder)
  await place.put('index/config.json', Buffer.from('{}'), { onlyIf: 'absent' })
  await close()
  assert.ok(existsSync(join(folder, '.push', 'lock')))
  chmodSync(join(folder, '.push'), 0o755)
  assert.deepEqual(open(folder, '.push'), [])
  await (await openPushFolder(folder)).close()
  assert.equal(lstatSync(join(folder, '.push')).mode & 0o777, 0o700)
})
