// Mirrors generator/git/git-index.ts: machines without git, or with the index switched off
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode, type Run } from '../../support/command.ts'
import { git } from '../../support/git.ts'
import { nodegit } from '../../support/index-repository.ts'
import { serve } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { listMarks } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { folderOf, reopen } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const BASE = 'https://crates.example'

/** Runs a command in this process, which finds git where `env` says. */
async function program(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Run> {
  const { PATH } = process.env
  if (env.PATH !== undefined) process.env.PATH = env.PATH
  try {
    return await plimsollHere(args, env, { cwd })
  } finally {
    process.env.PATH = PATH
  }
}

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
  /** Where the git index is switched off. */
  const off = async (code: number, ...args: string[]) => {
    const env = { PLIMSOLL_GIT_ENGINE: 'git', PLIMSOLL_GIT_INDEX: 'off' }
    return expectCode(args.join(' '), await program(folder, [...args, '--dir', dir], env), code)
  }
  const add = async (hasGit: boolean, name: string): Promise<void> => {
    const file = join(folder, `${name}-1.0.0.crate`)
    await plimsoll(hasGit, 'add', writeCrate(file, { name, version: '1.0.0' }))
  }
  const marks = async (): Promise<number> => {
    const registry = await reopen(t, dir)
    return (await listMarks(registry.database, 'git')).length
  }
  await plimsoll(false, 'init', '--base-url', BASE)
  return { folder, dir, plimsoll, off, environment, add, marks }
}

const repositoryOf = (dir: string) => join(dir, 'public', 'index.git')

const indexed = (dir: string): string[] =>
  git(repositoryOf(dir), 'ls-tree', '-r', '--name-only', 'HEAD').split('\n')

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
    /^git index none: not created yet; .* creates it with git$/m,
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
  assert.match(git(repositoryOf(dir), 'show', 'HEAD:al/ph/alpha'), /"yanked":true/)
  assert.equal(await marks(), 0)
})

test('a git index that is switched off goes without marks, and comes back with its history', async t => {
  const { dir, plimsoll, off, add, marks } = await scene(t)
  await add(true, 'alpha')
  const repository = repositoryOf(dir)
  const log = () => git(repository, 'log', '--format=%s').split('\n')
  assert.deepEqual(log(), ['publish alpha 1.0.0 by command line'])
  const left = /^index\.git: `git\.index` is "off", but the repository is still/m
  assert.match((await off(1, 'verify')).stdout, left)
  await off(0, 'build')
  assert.equal(existsSync(repository), false)
  await off(0, 'yank', 'alpha@1.0.0')
  assert.equal(await marks(), 0)
  const { stdout } = await off(0, 'status')
  assert.match(stdout, /^git index none: the setting `git\.index` is "off"$/m)
  await off(0, 'verify')
  await plimsoll(true, 'build')
  assert.deepEqual([log().length, log().at(-1)], [2, 'publish alpha 1.0.0 by command line'])
  assert.match(await plimsoll(true, 'verify'), /^everything agrees$/m)
})

const needsNodegit = { skip: nodegit ? false : 'nodegit is not installed' }

test(
  'nodegit without git: status and daemon say what is missing, git clones, Cargo reads why',
  needsNodegit,
  async t => {
    const { folder, dir, add } = await scene(t)
    const env = { PLIMSOLL_GIT_ENGINE: 'nodegit', PATH: join(folder, 'nothing') }
    const daemon = await serve(new Cleanup(t), dir, env)
    await add(false, 'alpha')
    const missing = /needs the executable `git`, and `nodegit` alone only writes/
    assert.match(daemon.log(), missing)
    const { stdout } = await program(folder, ['status', '--dir', dir], env)
    assert.match(stdout, /^git index nodegit$/m)
    assert.match(stdout, missing)
    const url = `${daemon.url}/index.git`
    const clone = join(folder, 'clone')
    // The daemon's first commit may be without the crate.
    await until(async () => {
      if ((await (await fetch(`${url}/info/refs`)).text()) === '') return false
      rmSync(clone, { recursive: true, force: true })
      execFileSync('git', ['clone', '--quiet', url, clone])
      return existsSync(join(clone, 'al/ph/alpha'))
    }, 'there is no commit of the crate')
    assert.match(readFileSync(join(clone, 'al/ph/alpha'), 'utf8'), /"name":"alpha"/)
    const asked = await fetch(`${url}/info/refs?service=git-upload-pack`, {
      headers: { 'user-agent': 'git/2.0 (libgit2 1.9.0)' },
    })
    assert.equal(asked.status, 200)
    assert.match(await asked.text(), /ERR Cargo cannot fetch the git index/)
  },
)

test('a daemon without git says so once, and publishes all the same', async t => {
  const { folder, dir, environment, add, marks } = await scene(t)
  const cleanup = new Cleanup(t)
  const daemon = await serve(cleanup, dir, environment(false))
  await add(false, 'alpha')
  await add(false, 'beta')
  await until(
    async () => (await fetch(`${daemon.url}/crates/beta/`)).status === 200,
    'the page of the second publish is not rendered',
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
