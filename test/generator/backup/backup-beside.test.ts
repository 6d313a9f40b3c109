import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { plimsoll, serve } from '../../support/plimsoll.ts'
import { publishTo } from '../../support/release.ts'
import { scratch } from '../../support/scratch.ts'
import { servedFolder } from '../../support/served-folder.ts'
import { until } from '../../support/until.ts'

const ENV = {}

test('a backup made while publishes go on has every release acknowledged before it began, and restores whole', async t => {
  const served = await servedFolder(t, { PLIMSOLL_GIT_INDEX: 'auto' })
  const { url } = served
  await served.ok('user', 'add', 'alice')
  const token = await served.ok('token', 'create', '--user', 'alice')
  const acknowledged: string[] = []
  let goesOn = true
  const publisher = async (name: string) => {
    for (let patch = 0; goesOn; patch++) {
      const put = await publishTo(url, token, { name, version: `1.0.${patch}` })
      const answer = (await put.json()) as { errors?: unknown }
      assert.equal(answer.errors, undefined, JSON.stringify(answer))
      acknowledged.push(`${name} 1.0.${patch}`)
    }
  }
  const names = ['alpha', 'Beta', 'gamma', 'delta']
  const publishers = Promise.all(names.map(publisher))
  await until(
    () => acknowledged.length >= 20,
    () => `only ${acknowledged.length} were published`,
  )
  const before = [...acknowledged]
  const file = join(dirname(served.dir), 'backups', 'one.tar')
  const said = await served.ok('backup', file)
  const after = [...acknowledged]
  goesOn = false
  await publishers
  assert.ok(after.length > before.length, 'publishes went on meanwhile')
  const count = Number(/ with its (\d+) \.crate files/.exec(said)?.[1])
  assert.ok(
    count >= before.length && count <= after.length + names.length,
    `${before.length} ${count} ${after.length}`,
  )

  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'restored')
  const command = (...args: string[]) => plimsoll('.', [...args, '--dir', dir], ENV)
  const restored = await command('restore', file)
  // What takes longer than ten seconds tells how far it is.
  const complaints = restored.stderr.replace(/^rendering pages: .*\n/gm, '')
  assert.deepEqual([restored.code, complaints], [0, ''])
  assert.equal(restored.stdout.split('\n')[0], `restored ${count} .crate files`)
  const verified = await command('verify')
  assert.deepEqual([verified.code, verified.stdout], [0, 'everything agrees\n'], verified.stderr)
  const again = await serve(cleanup, dir, ENV)
  const there: string[] = []
  for (const name of names) {
    const response = await fetch(
      `${again.url}/index/${name === 'Beta' ? 'be/ta/beta' : indexPath(name)}`,
    )
    for (const line of (await response.text()).trimEnd().split('\n')) {
      const { name: crate, vers } = JSON.parse(line) as { name: string; vers: string }
      there.push(`${crate} ${vers}`)
    }
  }
  assert.equal(there.length, count)
  assert.deepEqual(
    before.filter(path => !there.includes(path)),
    [],
  )
  // The old token still works there: it is part of what was saved.
  const epsilon = { name: 'epsilon', version: '1.0.0' }
  assert.equal((await publishTo(again.url, token, epsilon)).status, 200)
})

function indexPath(name: string): string {
  return `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
}

test('backup and restore refuse to write over anything, in one sentence', async t => {
  const folder = scratch(new Cleanup(t))
  const [dir, file] = [join(folder, 'registry'), join(folder, 'one.tar')]
  const command = (...args: string[]) => plimsoll(folder, args, ENV)
  assert.equal((await command('init', '--dir', dir)).code, 0)
  assert.equal((await command('backup', file, '--dir', dir)).code, 0)
  const rows: [args: string[], code: number, said: string][] = [
    [
      ['backup', file, '--dir', dir],
      1,
      `error: ${file} already exists; choose another name for the backup\n`,
    ],
    [
      ['backup', file, '--dir', folder],
      2,
      `error: ${folder} is not a registry; create one with \`plimsoll init --dir ${folder}\`, or name another folder with --dir\n`,
    ],
    [['backup', '--dir', dir], 2, "error: missing required argument 'file'\n"],
    [['restore', '--dir', dir], 2, "error: missing required argument 'file'\n"],
  ]
  for (const [args, code, said] of rows) {
    const ended = await command(...args)
    assert.deepEqual([ended.code, ended.stderr, ended.stdout], [code, said, ''], args.join(' '))
  }
  const taken = await command('restore', file, '--dir', dir)
  assert.deepEqual([taken.code, taken.stdout], [1, ''])
  assert.match(taken.stderr, /^error: \S+ is not empty/)
  const missing = await command('restore', join(folder, 'none.tar'), '--dir', join(folder, 'new'))
  assert.equal(missing.code, 2)
  assert.equal(existsSync(join(folder, 'new')), false)
  assert.deepEqual(readdirSync(folder).sort(), ['one.tar', 'registry'])
})
