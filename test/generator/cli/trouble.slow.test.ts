// Mirrors generator/cli/: damaged databases, files in the way
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { run as command, type Run } from '../../support/command.ts'
import { damageTable } from '../../support/damage-file.ts'
import { treeDigest } from '../../support/folder.ts'
import { plimsoll as program, root, serve } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { scratch } from '../../support/scratch.ts'
import { refuses } from '../../support/served-folder.ts'
import { until } from '../../support/until.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const ENV = { PLIMSOLL_GIT_INDEX: 'off' }

const template = scratch(new Cleanup({ after }))

before(async () => {
  const dir = join(template, 'registry')
  const files = ['demo', 'other'].map(name => {
    return writeCrate(join(template, `${name}-1.0.0.crate`), { name, version: '1.0.0' })
  })
  const init = ['init', '--base-url', 'https://crates.example', '--dir', dir]
  for (const args of [init, ['add', ...files, '--dir', dir]])
    assert.equal((await plimsollHere(args, ENV)).code, 0)
})

/** A registry folder with two crates of one version each, and the command to be run on it. */
async function scene(t: TestContext) {
  const folder = folderOf(t)
  cpSync(template, folder, { recursive: true, preserveTimestamps: true })
  const dir = join(folder, 'registry')
  const plimsoll = (...args: string[]): Promise<Run> => plimsollHere([...args, '--dir', dir], ENV)
  return { folder, dir, plimsoll }
}

test('output that finds no room or no reader is an error, a log without room is none', async t => {
  const { dir } = await scene(t)
  const cli = join(root, 'dist', 'daemon', 'cli.js')
  const sh = (script: string) => ['-c', script, process.execPath, cli]
  const options = { cwd: dir, env: { ...process.env, ...ENV, PLIMSOLL_DIR: dir } }
  const full = await command('sh', sh('"$0" "$1" status >/dev/full'), options)
  const room = 'error: the output is incomplete: ENOSPC: no space left on device, write\n'
  assert.deepEqual([full.code, full.stderr], [1, room])
  const head = sh('{ "$0" "$1" backup -; echo $? >&2; } | head -c 1')
  const unread = await command('sh', head, options)
  assert.equal(unread.stderr, 'error: the operating system reports an error: write EPIPE\n1\n')
  const daemon = spawn('sh', sh('exec "$0" "$1" serve --listen 127.0.0.1:0 2>/dev/full'), options)
  const ended = once(daemon, 'close')
  for await (const chunk of daemon.stdout) {
    const [, url] = /^listening on (http:\S+)$/m.exec(`${chunk}`) ?? []
    if (url === undefined) continue
    assert.equal((await fetch(`${url}/api/v1/crates/new`, { method: 'PUT' })).status, 403)
    daemon.kill('SIGTERM')
  }
  assert.deepEqual(await ended, [0, null])
})

for (const [how, lose] of [
  ['gone', (path: string) => rmSync(path)],
  ['empty', (path: string) => truncateSync(path, 0)],
] as const) {
  test(`beside a database that is ${how} no command takes the .crate files for nobody's`, async t => {
    const { dir, plimsoll, folder } = await scene(t)
    lose(join(dir, 'plimsoll.db'))
    const digests = () => ['public', 'crates'].map(part => treeDigest(join(dir, part)))
    const before = digests()
    const said =
      /^error: the database \S+plimsoll\.db is missing or empty, but \S+ contains \.crate files; /
    await refuses({ run: args => plimsoll(...args) }, [
      [['verify', '--repair'], 1, said],
      [['build', '--all'], 1, said],
      [['serve'], 1, said],
      [['status'], 1, said],
    ])
    assert.deepEqual(digests(), before)
    // What the message advises.
    renameSync(join(dir, 'public'), join(folder, 'old'))
    const fresh = join(folder, 'fresh')
    assert.equal((await plimsollHere(['init', '--dir', fresh], ENV)).code, 0)
    const run = await plimsollHere(['import', 'old', '--dir', fresh], ENV, { cwd: folder })
    assert.equal(run.stdout, '2 added, 0 refused\n')
  })
}

test('a database that was cut off or written over, or is none, is told in one sentence', async t => {
  const { dir, plimsoll } = await scene(t)
  const file = join(dir, 'plimsoll.db')
  const whole = readFileSync(file)
  const damaged = [100, 4096, whole.length >> 1].map(length => whole.subarray(0, length))
  damaged.push(Buffer.from(whole).fill(0xff, 4096), Buffer.from('no database'.repeat(1000)))
  for (const bytes of damaged) {
    for (const name of ['-wal', '-shm']) rmSync(`${file}${name}`, { force: true })
    writeFileSync(file, bytes)
    const said = /^error: the database is damaged: [^\n]+; stop the daemon [^\n]+\n$/
    await refuses({ run: args => plimsoll(...args) }, [
      [['status'], 1, said],
      [['verify'], 1, said],
      [['serve', '--listen', '0'], 1, said],
    ])
  }
})

test('a database that is damaged where nobody reads is not well: status, build and the log say so', async t => {
  const { dir, plimsoll } = await scene(t)
  damageTable(join(dir, 'plimsoll.db'), 'imported_logs')
  const said = /the database is damaged: [^\n]+; stop the daemon and keep the folder/
  const status = await plimsoll('status')
  assert.equal(status.code, 1)
  assert.match(status.stdout, /^warning +the database is damaged: /m)
  const build = await plimsoll('build')
  assert.equal(build.code, 1)
  assert.match(build.stderr, said)
  const daemon = await serve(new Cleanup(t), dir, ENV)
  await until(() => said.test(daemon.log()), 'the log does not say so')
  assert.equal(await (await fetch(`${daemon.url}/readyz`)).text(), 'not ready: database damaged\n')
})

test('a file where a folder has to be is told in one sentence', async t => {
  const { dir, plimsoll } = await scene(t)
  rmSync(join(dir, 'locks'), { recursive: true })
  writeFileSync(join(dir, 'locks'), '')
  const run = await plimsoll('build')
  assert.equal(run.code, 1)
  assert.match(run.stderr, /^error: the operating system reports an error: EEXIST: [^\n]+locks'\n$/)
})

test('what can be no folder, and what is no file, is told at once', async t => {
  const { plimsoll } = await scene(t)
  const said = /^error: the registry cannot be written to: ENOENT: [^\n]+\n$/
  assert.match((await plimsollHere(['init', '--dir', '/proc/nowhere'], ENV)).stderr, said)
  assert.match((await plimsoll('backup', '/proc/nowhere/b.tar')).stderr, said)
  const { code, stderr } = await plimsoll('add', '/dev/zero')
  assert.deepEqual([code, stderr], [2, 'error: /dev/zero is neither a file nor a folder\n'])
})

test('a pipe or device in the place of a file that a setting names is told, and never waited for', async t => {
  const { folder, dir } = await scene(t)
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const up = ['upstream.up.index=sparse+http://127.0.0.1:9/index/']
  const settings: readonly (readonly [command: string[], key: string, more?: string[]])[] = [
    [['serve', '--listen', '127.0.0.1:0'], 'tls.cert', [`tls.key=${join(dir, 'plimsoll.toml')}`]],
    [['upstream', 'explain', 'demo'], 'upstream.up.token_file', up],
    [['upstream', 'explain', 'demo'], 'outgoing.ca_file', up],
    [['build'], 'advisories.from'],
    [['status'], 'database.ca_file', ['database.url=postgres://u@host.invalid/db']],
    [['yank', 'demo@1.0.0'], 'cdn.purge_headers', ['cdn.purge_url=http://127.0.0.1:9/{path}']],
  ]
  for (const [args, key, more = []] of settings)
    for (const path of [pipe, '/dev/zero']) {
      const set = [`${key}=${path}`, ...more].flatMap(each => ['--set', each])
      const ended = await program(folder, [...args, ...set, '--dir', dir], ENV)
      const said = `${path} is neither a file nor a folder`
      assert.ok(`${ended.stdout}${ended.stderr}`.includes(said), `${key}: ${ended.stderr}`)
    }
})

test('standard input without an end is refused when it has more than a password', async t => {
  const { folder, dir } = await scene(t)
  const args = ['user', 'add', 'ann', '--password-stdin', '--dir', dir]
  const { code, stderr } = await program(folder, args, ENV, 'x'.repeat(70_000))
  const said = 'error: standard input is larger than the limit of 64 KiB\n'
  assert.deepEqual([code, stderr], [1, said])
})

test('a reader of the output who goes early, as `head` does, changes nothing', async t => {
  const { dir, plimsoll } = await scene(t)
  rmSync(join(dir, 'public'), { recursive: true })
  const args = [join(root, 'dist', 'daemon', 'cli.js'), 'verify', '--repair', '--dir', dir]
  const child = spawn(process.execPath, args, { env: { ...process.env, ...ENV } })
  child.stdout.destroy()
  let said = ''
  child.stderr.on('data', text => {
    said += String(text)
  })
  const [code] = await once(child, 'close')
  assert.deepEqual({ code, said }, { code: 0, said: '' })
  assert.equal((await plimsoll('verify')).stdout, 'everything agrees\n')
})

test('a link in the place of a crate is taken away, and nothing where it leads', async t => {
  const { folder, dir, plimsoll } = await scene(t)
  const outside = join(folder, 'outside')
  for (const words of ['verify --repair', 'build --all']) {
    mkdirSync(outside, { recursive: true })
    writeFileSync(join(outside, 'precious'), '')
    rmSync(join(dir, 'public', 'crates', 'demo'), { recursive: true })
    symlinkSync(outside, join(dir, 'public', 'crates', 'demo'))
    assert.equal((await plimsoll(...words.split(' '))).code, 0)
    assert.deepEqual(readdirSync(outside), ['precious'])
    assert.equal((await plimsoll('verify')).stdout, 'everything agrees\n')
  }
})

test('verify --repair takes away what lies in the place of a file or a folder', async t => {
  const { dir, plimsoll } = await scene(t)
  const tree = join(dir, 'public')
  const before = treeDigest(tree)
  const gone = (path: string): string => {
    rmSync(join(tree, path), { recursive: true })
    return join(tree, path)
  }
  for (const path of ['crates/demo/demo-1.0.0.crate', 'index/de/mo/demo', 'index.html'])
    mkdirSync(join(gone(path), 'inner'), { recursive: true })
  mkdirSync(gone('index/config.json'))
  symlinkSync('/nonexistent', gone('crates/other'))
  for (const path of ['index/ot', 'search']) writeFileSync(gone(path), 'x')
  const verified = await plimsoll('verify')
  assert.equal(verified.code, 1, verified.stderr)
  assert.equal(verified.stderr, '')
  assert.equal((await plimsoll('verify', '--repair')).code, 0)
  assert.equal((await plimsoll('verify')).stdout, 'everything agrees\n')
  // The pages of sources are no part of a verification.
  assert.equal((await plimsoll('build', '--all')).code, 0)
  assert.equal(treeDigest(tree), before)
})

test('a backup leaves nothing but the backup, also when the disk is full', async t => {
  const { folder, dir } = await scene(t)
  // The log of a database that this process has not closed yet may lie beside it.
  const names = () => readdirSync(dir).filter(name => !/-(?:shm|wal)$/.test(name))
  const plimsoll = (...args: string[]) => program(folder, [...args, '--dir', dir], ENV)
  const before = names()
  // Old enough that nobody can be at work on it.
  mkdirSync(join(dir, '.writing-0123456789abcdef'))
  utimesSync(join(dir, '.writing-0123456789abcdef'), 0, 0)
  assert.equal((await plimsoll('backup', join(folder, 'one.tar'))).code, 0)
  assert.deepEqual(names(), before)
  const big = join(folder, 'big.crate')
  const files = { 'noise.bin': randomBytes(400_000) }
  writeCrate(big, { name: 'big', version: '1.0.0', files })
  assert.equal((await plimsoll('add', big)).code, 0)
  const args = ['backup', join(folder, 'two.tar'), '--dir', dir].map(arg => `'${arg}'`).join(' ')
  // No file may be much longer than the database: the archive is.
  const blocks = Math.ceil(statSync(join(dir, 'plimsoll.db')).size / 1024) + 100
  const script = `trap '' XFSZ; ulimit -f ${blocks}; exec '${process.execPath}' '${join(root, 'dist', 'daemon', 'cli.js')}' ${args}`
  const options = { cwd: folder, env: { ...process.env, ...ENV } }
  const { code, stderr } = await command('bash', ['-c', script], options)
  const large = 'error: the operating system reports an error: EFBIG: file too large, write\n'
  assert.deepEqual([code, stderr], [1, large])
  assert.deepEqual(names(), before)
  assert.equal(existsSync(join(folder, 'two.tar')), false)
})
