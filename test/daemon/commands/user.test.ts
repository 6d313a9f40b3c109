import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { watch } from '../../support/command.ts'
import { hostEnvironment, root } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { RemoteBrowser } from '../../support/remote-browser.ts'
import { scratch } from '../../support/scratch.ts'
import { refuses, servedFolder } from '../../support/served-folder.ts'
import { until } from '../../support/until.ts'

const NOBODY = 'there is no user `nobody`; add one with `plimsoll user add nobody`'

test('user add, list: what is said, and what is refused', async t => {
  const folder = await servedFolder(t)
  assert.equal(await folder.ok('user', 'add', 'alice'), 'added alice')
  assert.equal(await folder.ok('user', 'add', 'root', '--admin'), 'added root')
  for (const verb of ['lock', 'unlock', 'lock'])
    assert.equal(await folder.ok('user', verb, 'alice'), `${verb}ed alice`)
  assert.match(
    await folder.ok('user', 'list'),
    /^username {2}role {3}state {3}since\nadmin {5}admin {2}active {2}\S+Z\nalice {5}user {3}locked {2}\S+Z\nroot {6}admin {2}active {2}\S+Z$/,
  )
  const [, { created, ...alice }] = JSON.parse(await folder.ok('user', 'list', '--json'))
  const flags = { admin: false, locked: true, removed: false, machine: false }
  const state = { name: null, ...flags, identities: [], login_due: false, made: [] }
  assert.deepEqual(alice, { id: 2, login: 'alice', ...state })
  const form =
    'cannot be a username; use 1 to 39 letters, digits, `.`, `_` and `-`, and begin with a letter or digit'
  await refuses(folder, [
    [['user', 'add', 'Alice'], 1, 'the user `Alice` already exists; nothing was changed'],
    [['user', 'add', 'two words'], 2, `\`two words\` ${form}`],
    [['user', 'add', ''], 2, `\`\` ${form}`],
    [['user', 'add'], 2, "missing required argument 'username'"],
    [['user', 'add', 'carol', '--colour', 'red'], 2, /^error: unknown option '--colour'/],
    [['user', 'list', 'carol'], 2, /^error: too many arguments/],
    [['user', 'nonsense'], 2, /^error: unknown command 'nonsense'/],
    [['user', 'password', 'alice'], 2, /^error: there is no terminal .* with --password-stdin/],
    [['user', 'link', 'nobody'], 1, NOBODY],
    [['user', 'link', 'alice'], 1, '`alice` is locked; unlock the account first'],
    ...['lock', 'unlock', 'promote', 'demote', 'logout'].map(
      verb => [['user', verb, 'nobody'], 1, NOBODY] as const,
    ),
  ])
})

test('the first user is an administrator, and the command says so', async t => {
  const dir = join(scratch(new Cleanup(t)), 'registry')
  const ok = async (...args: string[]) => (await plimsollHere([...args, '--dir', dir])).stdout
  await ok('init')
  assert.equal(await ok('user', 'add', 'ada'), 'added ada, an administrator as the first user\n')
  assert.equal(await ok('user', 'add', 'bob'), 'added bob\n')
  const list = await ok('user', 'list')
  assert.match(list, /^username .*\nada +admin +active +\S+Z\nbob +user +active +\S+Z\n$/)
})

test('user --password-stdin takes one line; user link gives a link that works', async t => {
  const folder = await servedFolder(t)
  const { url, run } = folder
  const short = 'error: a password needs at least 10 characters; several words make a good one\n'
  const lines = 'error: a password is one line; write nothing else to standard input\n'
  for (const [stdin, code, stderr] of [
    ['short', 1, short],
    ['', 1, short],
    ['two lines of\ntext here\n', 1, lines],
    ['correct horse battery\r\n', 0, ''],
  ] as const) {
    const ended = await run(['user', 'add', 'alice', '--password-stdin'], stdin)
    assert.deepEqual([ended.code, ended.stderr], [code, stderr], JSON.stringify(stdin))
  }
  const first = new RemoteBrowser(url)
  assert.equal((await first.logIn('alice')).status, 303)
  assert.equal(await first.isLoggedIn(), true)
  const changed = await run(['user', 'password', 'alice', '--password-stdin'], 'another good one\n')
  assert.equal(changed.code, 0)
  assert.equal(await first.isLoggedIn(), false, 'a new password ends the sessions')
  const link = await folder.ok('user', 'link', 'alice')
  assert.match(link, new RegExp(`^${url}/me/password\\?link=[\\w-]{43}$`))
  const second = new RemoteBrowser(url)
  assert.equal((await second.setPassword(link, 'a third good one')).status, 303)
  assert.equal(await second.isLoggedIn(), true)
  const again = await second.setPassword(link, 'a fourth good one')
  assert.equal(again.status, 403, 'a link is good once')
  assert.equal(await folder.ok('user', 'logout', 'alice'), 'ended 1 session of alice')
  assert.equal(await second.isLoggedIn(), false)
  assert.equal(await folder.ok('user', 'logout', 'alice'), 'ended 0 sessions of alice')
})

test('user password asks at a terminal, twice and without showing what is typed', async t => {
  const dir = join(scratch(new Cleanup(t)), 'registry')
  for (const words of [['init'], ['user', 'add', 'alice']])
    assert.equal((await plimsollHere([...words, '--dir', dir])).code, 0)
  const cli = join(root, 'dist', 'program', 'cli.js')
  const line = `'${process.execPath}' '${cli}' user password alice --dir '${dir}'`
  const ask = async (...typed: string[]) => {
    // A terminal of its own; `-e`: with the exit code of the command.
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      env: { ...hostEnvironment(), NO_COLOR: '1' },
    })
    const { said, ended } = watch(child)
    for (const [at, text] of typed.entries()) {
      const question = ['New password of alice: ', 'The same again: '][at] as string
      await until(() => said().endsWith(question), said)
      child.stdin.write(text)
    }
    return { code: await ended, said: said().replaceAll('\r', '') }
  }
  const long = 'correct horse battery'
  const asked = 'New password of alice: \nThe same again: \n'
  assert.deepEqual(await ask(`${long}\r`, `${long}\r`), {
    code: 0,
    said: `${asked}set the password of alice\n`,
  })
  assert.deepEqual(await ask(`${long}\r`, 'another one that is long\r'), {
    code: 1,
    said: `${asked}error: the two passwords differ; nothing was changed\n`,
  })
  const short = await ask('short\r')
  assert.deepEqual([short.code, short.said.split('\n').length], [1, 3], short.said)
  assert.equal((await ask('\x03')).code, 130)
})

test('rights come and go at once, and the last administrator stays', async t => {
  const folder = await servedFolder(t)
  const last = '`admin` is the last administrator; make another user an administrator first'
  await refuses(folder, [
    [['user', 'demote', 'admin'], 1, last],
    [['user', 'lock', 'admin'], 1, last],
  ])
  const password = 'correct horse battery'
  assert.equal((await folder.run(['user', 'add', 'alice', '--password-stdin'], password)).code, 0)
  const browser = new RemoteBrowser(folder.url)
  await browser.logIn('alice', password)
  const administers = async () => (await browser.get('/me/admin/users')).status
  assert.equal(await administers(), 403)
  assert.equal(await folder.ok('user', 'promote', 'alice'), 'promoted alice')
  assert.equal(await administers(), 200)
  assert.equal(await folder.ok('user', 'demote', 'admin'), 'demoted admin')
  await refuses(folder, [[['user', 'demote', 'alice'], 1, last.replace('admin', 'alice')]])
})
