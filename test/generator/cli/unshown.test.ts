// Mirrors generator/places/disk/fault.ts: a disk that is full when a change is recorded already.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { PublicTree } from '../../../generator/places/public-tree.ts'
import { isOnPostgres } from '../../support/engine.ts'
import { plimsollHere } from '../../support/program.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

test('a change that is recorded but cannot be shown is not said to be undone', async t => {
  const [folder, dir] = [folderOf(t), folderOf(t)]
  const env = { PLIMSOLL_GIT_INDEX: 'off' }
  const run = (...args: string[]) => plimsollHere([...args, '--dir', dir], env)
  const crate = (version: string) => {
    writeCrate(join(folder, `demo-${version}.crate`), { name: 'demo', version })
    return join(folder, `demo-${version}.crate`)
  }
  assert.equal((await run('init', '--base-url', 'https://crates.example')).code, 0)
  assert.equal((await run('add', crate('1.0.0'))).code, 0)
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
  })
  const writes = ['write', 'writeAll', 'show'] as const
  const mocks = writes.map(name =>
    t.mock.method(PublicTree.prototype, name, () => Promise.reject(full)),
  )
  for (const args of [
    ['yank', 'demo@1.0.0'],
    ['add', crate('2.0.0')],
    ['add', crate('2.0.0')],
    ['import', '--as', 'crates', crate('3.0.0')],
    ['delete', 'demo@2.0.0', '--yes'],
  ]) {
    const { code, stderr } = await run(...args)
    assert.equal(code, 1, stderr)
    assert.match(
      stderr,
      /the change was made, but not all that shows it: .*ENOSPC.*; .*`plimsoll build`/,
    )
    assert.doesNotMatch(stderr, /not made|nothing was changed|try again/, args.join(' '))
  }
  for (const mock of mocks) mock.mock.restore()
  for (const args of [['delete', 'demo@2.0.0', '--yes'], ['build'], ['verify']]) {
    const { code, stderr, stdout } = await run(...args)
    assert.equal(code, 0, `${args}: ${stderr}${stdout}`)
  }
})

test('a failed sync behind one that has kept the change says that it was made', {
  skip: isOnPostgres ? 'the log is of SQLite' : false,
}, async t => {
  const [folder, dir] = [folderOf(t), folderOf(t)]
  const env = { PLIMSOLL_GIT_INDEX: 'off' }
  const run = (...args: string[]) => plimsollHere([...args, '--dir', dir], env)
  const path = join(folder, 'demo-1.0.0.crate')
  writeCrate(path, { name: 'demo', version: '1.0.0' })
  await run('init', '--base-url', 'https://crates.example')
  assert.equal((await run('add', path)).code, 0)
  const file = await open(path)
  const prototype = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const failure = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
  for (const [at, said, isYanked] of [
    [0, /^error: nobody knows whether the change was made/m, true],
    [1, /^error: the change was made, but not all that shows it: EIO: i\/o error; /m, false],
  ] as const) {
    const failing = t.mock.method(prototype, 'datasync')
    failing.mock.mockImplementationOnce(() => Promise.reject(failure), at)
    const { code, stderr } = await run('yank', 'demo@1.0.0', ...(isYanked ? [] : ['--undo']))
    failing.mock.restore()
    assert.equal(code, 1)
    assert.match(stderr, said)
    assert.match(readFileSync(join(dir, 'public/index/de/mo/demo'), 'utf8'), yanked(isYanked))
  }
})

const yanked = (is: boolean) => new RegExp(`"yanked":${is}`)
