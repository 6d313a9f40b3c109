// Mirrors docs/run/several-registries.md: two registries of one machine, with real Cargo
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { root } from '../support/plimsoll.ts'
import { plimsollHere, serveHere } from '../support/program.ts'
import { writeProject } from '../support/project.ts'
import { scratch } from '../support/scratch.ts'

const text = readFileSync(join(root, 'docs', 'run', 'several-registries.md'), 'utf8')

test('the unit becomes a template, whose instances have nothing in common but program and user', async () => {
  const [, script = ''] = /^sudo sed -i '([^']+)'/m.exec(text) ?? []
  const unit = join(root, 'deploy', 'systemd', 'plimsoll.service')
  const ended = await run('sed', [script, unit], { cwd: root, env: process.env })
  const lines = expectCode('sed', ended, 0).stdout.split('\n')
  const settings = lines.filter(line => /^\w+=/.test(line) && line.includes('plimsoll'))
  assert.deepEqual(
    settings.filter(line => !line.includes('%i')).map(line => line.replace(/=.*/, '')),
    ['Documentation', 'User', 'Group', 'ExecStart'],
  )
  assert.deepEqual(
    settings.filter(line => line.includes('%i')),
    [
      'Environment=PLIMSOLL_DIR=/var/lib/plimsoll-%i',
      'Environment=HOME=/var/lib/plimsoll-%i',
      'EnvironmentFile=-/etc/plimsoll/%i',
      'StateDirectory=plimsoll-%i',
      'RuntimeDirectory=plimsoll-%i',
      'WorkingDirectory=/var/lib/plimsoll-%i',
    ],
  )
})

test('a crate of one registry depends on one of the other, with two blocks and two tokens', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const blocks: string[] = []
  const tokens: Record<string, string> = {}
  for (const name of ['team', 'oss']) {
    const dir = join(folder, name)
    const ok = async (...args: string[]) =>
      expectCode(args.join(' '), await plimsollHere([...args, '--dir', dir]), 0).stdout
    await ok('init', '--set', `registry.name=${name}`)
    await ok('user', 'add', 'alice')
    tokens[name] = (await ok('token', 'create', '--user', 'alice')).trim()
    const { url } = await serveHere(cleanup, dir, { PLIMSOLL_GIT_INDEX: 'off' })
    blocks.push(await ok('config', '--base-url', url))
  }
  // Nothing here is on crates.io.
  const settings = { registries: {}, cratesIo: 'sparse+http://127.0.0.1:1/', tokens }
  const cargo = new Cargo(join(folder, 'cargo'), { ...settings, config: blocks.join('\n') })
  const base = writeProject(join(folder, 'base'), { name: 'base' })
  await cargo.ok(base.folder, 'publish', '--registry', 'oss')
  const app = writeProject(join(folder, 'app'), { name: 'app' })
  await cargo.ok(app.folder, 'add', 'base', '--registry', 'oss')
  await cargo.ok(app.folder, 'publish', '--registry', 'team')
  const user = writeProject(join(folder, 'user'), { name: 'user' })
  await cargo.ok(user.folder, 'add', 'app', '--registry', 'team')
  await cargo.ok(user.folder, 'build')
  const [team, oss] = blocks.map(block => /^index = "(.+)"$/m.exec(block)?.[1])
  const lock = readFileSync(join(user.folder, 'Cargo.lock'), 'utf8')
  const sources = [...lock.matchAll(/^name = "(\w+)"\nversion = .+\nsource = "(.+)"$/gm)]
  assert.deepEqual(
    sources.map(([, name, source]) => [name, source]),
    [
      ['app', team],
      ['base', oss],
    ],
  )
})
