import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { pathOf } from '../../support/index-path.ts'
import { plimsoll, serve } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { publishTo } from '../../support/release.ts'
import { scratch } from '../../support/scratch.ts'
import { refuses, servedFolder } from '../../support/served-folder.ts'
import { until } from '../../support/until.ts'

test('a backup made while publishes go on has every release acknowledged before it began, and restores whole', async t => {
  const served = await servedFolder(t, { PLIMSOLL_GIT_INDEX: 'auto' }, serve)
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
  const command = (...args: string[]) => plimsoll('.', [...args, '--dir', dir])
  const restored = await command('restore', file)
  // What takes longer than ten seconds tells how far it is.
  const complaints = restored.stderr.replace(/^rendering pages: .*\n/gm, '')
  assert.deepEqual([restored.code, complaints], [0, ''])
  assert.equal(restored.stdout.split('\n')[0], `restored ${count} .crate files`)
  const verified = await command('verify')
  assert.deepEqual([verified.code, verified.stdout], [0, 'everything agrees\n'], verified.stderr)
  const there = names.flatMap(name => {
    const lines = readFileSync(join(dir, 'public', 'index', pathOf(name)), 'utf8').trimEnd()
    return lines.split('\n').map(line => `${name} ${JSON.parse(line).vers}`)
  })
  assert.equal(there.length, count)
  for (const release of before) assert.ok(there.includes(release), release)
  // The old token still works there: it is part of what was saved.
  const again = await serve(cleanup, dir)
  const epsilon = { name: 'epsilon', version: '1.0.0' }
  assert.equal((await publishTo(again.url, token, epsilon)).status, 200)
})

test('backup and restore refuse to write over anything, in one sentence', async t => {
  const folder = scratch(new Cleanup(t))
  const [dir, file] = [join(folder, 'registry'), join(folder, 'one.tar')]
  for (const words of [['init'], ['backup', file]])
    assert.equal((await plimsollHere([...words, '--dir', dir])).code, 0)
  const none = join(folder, 'none.tar')
  await refuses({ run: args => plimsollHere(args) }, [
    [
      ['backup', file, '--dir', dir],
      1,
      `${file} already exists; choose another name for the backup`,
    ],
    [['backup', file, '--dir', folder], 2, /^error: \S+ is not a registry; create one with/],
    [['backup', '--dir', dir], 2, "missing required argument 'file'"],
    [['restore', '--dir', dir], 2, "missing required argument 'file'"],
    [['restore', file, '--dir', dir], 1, /^error: \S+ is not empty/],
    [['restore', none, '--dir', join(folder, 'new')], 2, `there is no file or folder ${none}`],
  ])
  assert.deepEqual(readdirSync(folder).sort(), ['one.tar', 'registry'])
})
