// Mirrors generator/cli/console/command.ts
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { levelOf } from '../../../generator/database/migrations.ts'
import { openSqlite } from '../../../generator/places/disk/sqlite-file.ts'
import { PLIMSOLL, type Program } from '../../../generator/projections/context.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { serve } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { EXPANDING, NEWER, NEWEST } from '../../support/versions.ts'
import { folderOf } from '../../support/workplace.ts'

const LEVEL = levelOf(PLIMSOLL)

const READING = [
  ...[['status'], ['status', '--json'], ['verify'], ['user', 'list'], ['token', 'list']],
  ...[['audit'], ['backup', 'backup.tar'], ['delete', 'demo']],
]

/** Runs a command of a later version. */
const later = (version: Program, cwd: string, ...args: string[]) =>
  plimsollHere(args, {}, { cwd, version })

test('commands that read never upgrade the records, nor do others beside an older daemon', async t => {
  const folder = folderOf(t)
  const dir = join(folder, 'registry')
  const newer = (...args: string[]) => later(NEWER, folder, ...args, '--dir', dir)
  assert.equal((await plimsollHere(['init', '--dir', dir])).code, 0)
  const records = openSqlite(join(dir, 'plimsoll.db'))
  t.after(() => records.close())
  const stored = (sql: string) => (records.prepare(sql).get() as { value: string }).value
  const steps = () => stored('SELECT max(name) AS value FROM kysely_migration')
  const formats = () => stored("SELECT value FROM facts WHERE key = 'listings'")
  const expected = `error: ${dir}/plimsoll.db is of an older version of Plimsoll: it has the step ${LEVEL}, and 7.0.0 needs the step ${EXPANDING}; nothing was changed, and `

  const cleanup = new Cleanup(t)
  const old = await serve(cleanup, dir)
  const served = new RegExp(
    `^it is served by process \\d+ at ${old.url}/?, version ${PLIMSOLL.version}: use the program of that version, or stop it and run \`plimsoll serve\` of this one \\(docs/run/upgrade\\.md\\)\n$`,
  )
  for (const words of [...READING, ['user', 'add', 'alice'], ['build'], ['verify', '--repair']]) {
    const { code, stdout, stderr } = await newer(...words)
    assert.deepEqual([code, stdout], [1, ''], `${words.join(' ')}: ${stderr}`)
    assert.equal(stderr.slice(0, expected.length), expected)
    assert.match(stderr.slice(expected.length), served)
  }
  assert.equal(steps(), LEVEL)
  await old.kill()

  const alone =
    'no daemon serves it: back it up with the older version, then run `plimsoll serve` or `plimsoll build`, which upgrade it (docs/run/upgrade.md)\n'
  for (const words of READING)
    assert.equal((await newer(...words)).stderr, expected + alone, words.join(' '))
  assert.equal(steps(), LEVEL)
  // So it is when only the lists have another format.
  records.exec("UPDATE facts SET value = '8' WHERE key = 'listings'")
  const lists = await plimsollHere(['status', '--dir', dir])
  assert.match(lists.stderr, /it has lists of format 8, and .* needs lists of format \d+;/)
  assert.equal(formats(), '8')

  const built = await newer('build')
  assert.equal(built.code, 0)
  const [first, second] = built.stderr.split('\n')
  const upgrade = `upgrading ${dir}/plimsoll.db from the step ${LEVEL} to the step ${EXPANDING}`
  assert.equal(first, upgrade)
  assert.match(second ?? '', /plimsoll\.db from lists of format 8 to lists of format \d+$/)
  assert.equal(steps(), EXPANDING)
  for (const words of [['status'], ['user', 'list'], ['build'], ['backup', 'backup.tar']])
    assert.deepEqual([(await newer(...words)).stderr], [''], words.join(' '))
})

test('a restored backup of an older version is upgraded, and that is said; one of a newer version is named', async t => {
  const folder = folderOf(t)
  const at = (name: string) => join(folder, name)
  const save = (from: string) => ['backup', at(`${from}.tar`), '--dir', at(from)]
  const restore = (from: string, to: string) => ['restore', at(`${from}.tar`), '--dir', at(to)]
  for (const words of [['init', '--dir', at('old')], save('old')])
    assert.equal((await plimsollHere(words)).code, 0)
  const restored = await later(NEWER, folder, ...restore('old', 'new'))
  const said = `upgrading the records of ${at('old.tar')} from the step ${LEVEL} to the step ${EXPANDING}\n`
  assert.deepEqual([restored.code, restored.stderr], [0, said])
  assert.equal((await later(NEWEST, folder, ...save('new'))).code, 1)
  assert.equal((await plimsollHere(save('new'))).code, 0)
  for (const words of [restore('new', 'newest'), save('newest')])
    assert.equal((await later(NEWEST, folder, ...words)).code, 0)
  const late = await plimsollHere(restore('newest', 'late'))
  assert.match(late.stderr, /was written by a newer version of Plimsoll than this one/)
})
