// Mirrors generator/cli/: what would have no effect, or another than was meant
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesBelow } from '../../support/folder.ts'
import { plimsoll } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { folderOf, newRegistry } from '../../support/workplace.ts'

test('an empty PLIMSOLL_DIR counts as none, and an empty --dir is refused', async t => {
  const folder = folderOf(t)
  const env = { PLIMSOLL_DIR: '', PLIMSOLL_GIT_INDEX: 'off' }
  const made = await plimsoll(folder, ['init'], env)
  assert.deepEqual(
    [made.code, made.stdout],
    [0, 'created a registry in ./registry; start it with `plimsoll serve --dir ./registry`\n'],
  )
  assert.deepEqual(
    filesBelow(folder).filter(path => !path.startsWith('registry/')),
    [],
  )
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  for (const args of [
    ['init', '--dir', ''],
    ['deploy', '--from', 'registry/public', '--to', ''],
    ['deploy', '--from', '', '--to', 'www'],
    ['push', 'demo.crate', '--to', ''],
    ['build', '--from', '.', '--out', ''],
  ]) {
    const { code, stderr } = await plimsoll(empty, args)
    assert.deepEqual([code, /is invalid\. it is empty$/m.test(stderr)], [2, true], stderr)
  }
  assert.deepEqual(filesBelow(empty), [])
})

test('options of build that only a static tree has are refused without --from', async t => {
  const { dir } = await newRegistry(t)
  for (const [options, name] of [
    [['--skip-bad'], '--skip-bad'],
    [['--no-cache'], '--no-cache'],
    [['--cache', 'x'], '--cache'],
    [['--verbose'], '--verbose'],
  ] as const) {
    const { code, stderr } = await plimsoll(dir, ['build', '--dir', dir, ...options])
    assert.deepEqual([code, stderr], [2, `error: ${name} goes only with --from\n`])
  }
})

test('migrate says what is missing or too much, with exit code 2', async t => {
  const { dir } = await newRegistry(t)
  const stderr =
    'error: say what to move: the records with --to, .crate files with --crates, or both; --public goes with --to\n'
  for (const args of [[], ['--public', 's3://tree'], ['--public', 's3://tree', '--crates', 'copy']])
    assert.deepEqual(await plimsollHere(['migrate', '--dir', dir, ...args]), {
      code: 2,
      stdout: '',
      stderr,
    })
  assert.equal(existsSync(join(dir, 'copy')), false)
})

test('an option before the command is answered with where it goes', async t => {
  const folder = folderOf(t)
  const { code, stderr } = await plimsoll(folder, ['--dir', 'reg', 'status'])
  assert.deepEqual(
    [code, stderr],
    [
      2,
      "error: unknown option '--dir'\noptions follow the command: plimsoll status --dir registry\n",
    ],
  )
  const later = await plimsoll(folder, ['status', '--colour'])
  assert.deepEqual([later.code, later.stderr], [2, "error: unknown option '--colour'\n"])
})
