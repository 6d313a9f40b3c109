import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode } from '../../support/command.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { plimsoll as program, serve } from '../../support/plimsoll.ts'
import { until } from '../../support/until.ts'
import { folderOf, reopen } from '../../support/workplace.ts'

const BASE = 'https://crates.example'

/** A registry on a machine that has no git until a test says so; nodegit counts as absent. */
async function scene(t: TestContext) {
  const folder = folderOf(t)
  const dir = join(folder, 'registry')
  const nothing = join(folder, 'nothing')
  mkdirSync(nothing)
  const environment = (hasGit: boolean): NodeJS.ProcessEnv => ({
    PLIMSOLL_GIT_ENGINE: 'git',
    ...(hasGit ? {} : { PATH: nothing }),
  })
  const plimsoll = async (hasGit: boolean, ...args: string[]): Promise<string> => {
    const run = await program(folder, [...args, '--dir', dir], environment(hasGit))
    return expectCode(args.join(' '), run, 0).stdout
  }
  const add = async (hasGit: boolean, name: string): Promise<void> => {
    const file = join(folder, `${name}-1.0.0.crate`)
    writeFileSync(file, buildCrate({ name, version: '1.0.0' }))
    await plimsoll(hasGit, 'add', file)
  }
  const marks = async (): Promise<number> => {
    const registry = await reopen(t, dir)
    return (await registry.catalog.marks('git')).length
  }
  await plimsoll(false, 'init', '--base-url', BASE)
  return { folder, dir, plimsoll, environment, add, marks }
}

const indexed = (dir: string): string[] =>
  execFileSync(
    'git',
    ['--git-dir', join(dir, 'public', 'index.git'), 'ls-tree', '-r', '--name-only', 'HEAD'],
    {
      encoding: 'utf8',
    },
  )
    .trim()
    .split('\n')

test('without git nothing piles up, status says why there is no git index, and with git it catches up', async t => {
  const { dir, plimsoll, add, marks } = await scene(t)
  await add(false, 'alpha')
  await add(false, 'beta')
  assert.equal(await marks(), 0)
  const status = await plimsoll(false, 'status')
  assert.match(status, /^pending {3}0$/m)
  assert.match(
    status,
    /^git index none: .*neither `nodegit` nor the executable `git`.*catches up$/m,
  )
  const json = JSON.parse(await plimsoll(false, 'status', '--json'))
  assert.equal(json.git_index, null)
  assert.match(json.git_index_missing, /install git/)

  assert.match(
    await plimsoll(true, 'status'),
    /^git index none: not made yet; .* makes it with git$/m,
  )
  await plimsoll(true, 'build')
  assert.deepEqual(indexed(dir), ['al/ph/alpha', 'be/ta/beta', 'config.json'])
  assert.match(await plimsoll(true, 'status'), /^git index git$/m)

  await add(false, 'gamma')
  await plimsoll(false, 'yank', 'alpha@1.0.0')
  assert.equal(await marks(), 0)
  assert.match(await plimsoll(false, 'status'), /^git index none: .*neither/m)
  await plimsoll(true, 'build')
  assert.deepEqual(indexed(dir), ['al/ph/alpha', 'be/ta/beta', 'config.json', 'ga/mm/gamma'])
  const shown = ['--git-dir', join(dir, 'public', 'index.git'), 'show', 'HEAD:al/ph/alpha']
  assert.match(execFileSync('git', shown, { encoding: 'utf8' }), /"yanked":true/)
  assert.equal(await marks(), 0)
})

test('a git index that is switched off leaves no marks either, and verify has no fault to find', async t => {
  const { folder, dir, plimsoll, add, marks } = await scene(t)
  await add(true, 'alpha')
  const off = { PLIMSOLL_GIT_INDEX: 'off' }
  expectCode('yank', await program(folder, ['yank', 'alpha@1.0.0', '--dir', dir], off), 0)
  expectCode('yank', await program(folder, ['yank', 'alpha@1.0.0', '--undo', '--dir', dir], off), 0)
  assert.equal(await marks(), 0)
  const { stdout } = await program(folder, ['status', '--dir', dir], off)
  assert.match(stdout, /^git index none: the setting `git\.index` is "off"$/m)
  assert.match(await plimsoll(false, 'verify'), /^everything agrees$/m)
})

test('a daemon without git says so once, and publishes all the same', async t => {
  const { folder, dir, environment, add, marks } = await scene(t)
  const cleanup = new Cleanup(t)
  const daemon = await serve(cleanup, dir, environment(false))
  await add(false, 'alpha')
  await add(false, 'beta')
  await until(
    async () => (await fetch(`${daemon.url}/crates/beta/`)).status === 200,
    () => 'the page of the second publish is not rendered',
  )
  assert.equal(daemon.log().split('there is no git index').length - 1, 1, daemon.log())
  assert.match(daemon.log(), /neither `nodegit` nor the executable `git` can be used/)
  assert.equal(await marks(), 0)
  const index = await fetch(`${daemon.url}/index/al/ph/alpha`)
  assert.equal(index.status, 200)
  const { code } = await program(folder, ['status', '--dir', dir], environment(false))
  assert.equal(code, 0)
})

test('who insists on a git index hears what is missing, from the daemon and from verify', async t => {
  const { folder, dir, environment } = await scene(t)
  const env = { ...environment(false), PLIMSOLL_GIT_INDEX: 'on' }
  const served = await program(folder, ['serve', '--dir', dir, '--listen', '127.0.0.1:0'], env)
  assert.equal(served.code, 1)
  assert.match(served.stderr, /^error: the git index needs an engine/m)
  const verified = await program(folder, ['verify', '--repair', '--dir', dir], env)
  assert.equal(verified.code, 1)
  assert.match(verified.stdout, /^index\.git: the git index needs an engine/m)
})
