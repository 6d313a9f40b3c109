// Mirrors generator/cli/: what would have no effect, or another than was meant
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { plimsoll } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { refuses } from '../../support/served-folder.ts'
import { folderOf, newRegistry } from '../../support/workplace.ts'

test('an empty PLIMSOLL_DIR counts as none, and an empty --dir is refused', async t => {
  const folder = folderOf(t)
  const env = { PLIMSOLL_DIR: '', PLIMSOLL_GIT_INDEX: 'off' }
  const { stdout } = await plimsoll(folder, ['init'], env)
  const made = 'created a registry in ./registry; start it with `plimsoll serve --dir ./registry`\n'
  assert.equal(stdout, made)
  assert.deepEqual(readdirSync(folder), ['registry'])
  const empty = folderOf(t)
  const said = /is invalid\. it is empty$/m
  await refuses({ run: args => plimsollHere(args, {}, { cwd: empty }) }, [
    [['init', '--dir', ''], 2, said],
    [['deploy', '--from', 'registry/public', '--to', ''], 2, said],
    [['deploy', '--from', '', '--to', 'www'], 2, said],
    [['push', 'demo.crate', '--to', ''], 2, said],
    [['build', '--from', '.', '--out', ''], 2, said],
  ])
  assert.deepEqual(readdirSync(empty), [])
})

test('every command takes --dir, also one that needs no registry', async () => {
  const { code, stdout } = await plimsollHere(['completion', 'bash', '--dir', 'none'])
  assert.deepEqual([code, stdout.includes('complete')], [0, true])
  assert.equal((await plimsollHere(['check', '--dir', 'none', '--help'])).code, 0)
})

test('options of build that only a static tree has are refused without --from', async t => {
  const { dir } = await newRegistry(t)
  for (const options of [['--skip-bad'], ['--no-cache'], ['--cache', 'x'], ['--verbose']])
    await refuses({ run: args => plimsollHere(args) }, [
      [['build', '--dir', dir, ...options], 2, `${options[0]} goes only with --from`],
    ])
})

test('migrate says what is missing or too much, with exit code 2', async t => {
  const { dir } = await newRegistry(t)
  const said =
    'say what to move: the records with --to, .crate files with --crates, or both; --public goes with --to'
  const migrate = ['migrate', '--dir', dir]
  await refuses({ run: args => plimsollHere(args) }, [
    [migrate, 2, said],
    [[...migrate, '--public', 's3://tree'], 2, said],
    [[...migrate, '--public', 's3://tree', '--crates', 'copy'], 2, said],
  ])
  assert.equal(existsSync(join(dir, 'copy')), false)
})

test('an option before the command is answered with where it goes', async t => {
  const unknown =
    "unknown option '--dir'\noptions follow the command: plimsoll status --dir registry"
  await refuses({ run: args => plimsoll(folderOf(t), args) }, [
    [['--dir', 'reg', 'status'], 2, unknown],
    [['status', '--colour'], 2, "unknown option '--colour'"],
  ])
})
