// Mirrors generator/cli/import.ts
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { MARK_KINDS } from '../../../generator/projections/projections.ts'
import { countMarks } from '../../../generator/records/marks.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode } from '../../support/command.ts'
import { filesBelow } from '../../support/folder.ts'
import { MargoTree } from '../../support/margo.ts'
import { plimsoll, root, serve } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { refuses } from '../../support/served-folder.ts'
import { until } from '../../support/until.ts'
import { serveWeb } from '../../support/web-server.ts'
import { folderOf, reopen } from '../../support/workplace.ts'

/** An old registry of crates with 5 versions each; every crate needs the one before. */
function oldRegistry(folder: string, crates = 8): MargoTree {
  const old = new MargoTree(join(folder, 'old'), 'https://old.example/')
  const registry = old.indexUrl
  for (let number = 0; number < crates; number++) {
    const before = `crate-${number - 1}`
    const table = `[dependencies.${before}]\nversion = "1"\nregistry-index = "${registry}"\n`
    const needs =
      number > 0 ? { deps: [{ name: before, req: '^1', registry }], manifest: table } : {}
    for (let minor = 0; minor < 5; minor++) {
      const version = { name: `crate-${number}`, version: `1.${minor}.0`, yanked: minor === 3 }
      old.add({ ...version, ...needs })
    }
  }
  return old
}

async function init(folder: string, name: string): Promise<string> {
  const dir = join(folder, name)
  const settings = ['init', '--dir', dir, '--base-url', 'https://new.example']
  expectCode('plimsoll init', await plimsollHere(settings), 0)
  return dir
}

/** Index files and `.crate` files of the public tree, with their bytes. */
function shown(dir: string): Record<string, string> {
  const tree = join(dir, 'public')
  const paths = filesBelow(tree).filter(
    path => path.startsWith('index/') || path.endsWith('.crate'),
  )
  return Object.fromEntries(paths.map(path => [path, readFileSync(join(tree, path), 'base64')]))
}

async function importInto(folder: string, dir: string, ...more: string[]) {
  return plimsollHere(['import', join(folder, 'old'), '--dir', dir, ...more])
}

/** Starts an import and kills it the hard way when that many `.crate` files are in the store. */
async function kill(folder: string, dir: string, files: number): Promise<void> {
  const program = join(root, 'dist', 'daemon', 'cli.js')
  const child = spawn(process.execPath, [program, 'import', join(folder, 'old'), '--dir', dir], {
    stdio: 'ignore',
  })
  const end = once(child, 'close')
  const names = () => readdirSync(join(dir, 'crates'), { recursive: true, encoding: 'utf8' })
  const count = () => names().filter(name => name.endsWith('.crate')).length
  await until(() => child.exitCode !== null || count() >= files, 'the import does not come so far')
  child.kill('SIGKILL')
  const [, signal] = await end
  assert.equal(signal, 'SIGKILL', 'it was too fast to be killed')
}

test('an import that is killed again and again ends as one that is not', {
  timeout: 240_000,
}, async t => {
  const folder = folderOf(t)
  oldRegistry(folder, 40)
  const calm = await init(folder, 'calm')
  const first = expectCode('plimsoll import', await importInto(folder, calm), 0)
  assert.equal(first.stdout, '200 added, 0 refused\n')
  assert.match(
    first.stderr,
    /^importing a folder with an index in .*\ndependencies on sparse\+https:\/\/old\.example\/ become/,
  )
  const killed = await init(folder, 'killed')
  // In the first batch, while the bytes of the second arrive, and when all bytes are there.
  const front = () => readFileSync(join(killed, 'public', 'index.html'), 'utf8')
  for (const files of [40, 130, 200]) {
    await kill(folder, killed, files)
    assert.match(front(), /[Aa]n import is (filling this registry|adding more)/)
  }
  const last = expectCode('plimsoll import', await importInto(folder, killed), 0)
  assert.match(last.stdout, /^\d+ added, [1-9]\d* already present, 0 refused\n$/)
  assert.deepEqual(shown(killed), shown(calm))
  assert.match(front(), /40 crates, 200 versions</)
  // What a killed import was still receiving goes with time; nothing else may be left to mend.
  for (const dir of [calm, killed]) {
    const verified = await plimsollHere(['verify', '--dir', dir])
    assert.deepEqual([verified.code, verified.stdout], [0, 'everything agrees\n'])
  }
})

test('the program asks other servers as the settings and the environment say', async t => {
  const asked: string[] = []
  const proxy = await serveWeb(t, ({ url, headers }, response) => {
    asked.push(`${url} ${headers['user-agent']}`)
    response.writeHead(404).end()
  })
  const folder = folderOf(t)
  const dir = await init(folder, 'new')
  writeFileSync(join(folder, 'names.txt'), 'demo\n')
  const args = ['import', 'sparse+http://old.example/', '--names', 'names.txt', '--dir', dir]
  const env = { http_proxy: proxy, no_proxy: '', PLIMSOLL_OUTGOING_CONTACT: 'us@example.com' }
  const ended = expectCode('plimsoll import', await plimsoll(folder, args, env), 2)
  assert.match(ended.stderr, /^error: http:\/\/old\.example\/ has no `config\.json`/)
  assert.match(
    asked.join(),
    /^http:\/\/old\.example\/config\.json plimsoll\/\S+ \(us@example\.com\)$/,
  )
})

test('an import works beside a running daemon, which shows what has come', {
  timeout: 120_000,
}, async t => {
  const folder = folderOf(t)
  oldRegistry(folder)
  const dir = await init(folder, 'new')
  const daemon = await serve(new Cleanup(t), dir)
  expectCode('plimsoll import', await importInto(folder, dir), 0)
  const answer = await fetch(`${daemon.url}/index/cr/at/crate-7`)
  assert.equal((await answer.text()).trimEnd().split('\n').length, 5)
  assert.equal((await fetch(`${daemon.url}/crates/crate-6/crate-6-1.3.0.crate`)).status, 200)
  const { database } = await reopen(t, dir)
  await until(
    async () => (await countMarks(database, MARK_KINDS)).length === 0,
    'the daemon has not committed to the git index',
  )
  expectCode('plimsoll verify', await plimsollHere(['verify', '--dir', dir]), 0)
})

test('what is refused ends it with 1, and the JSON report names everything', {
  timeout: 120_000,
}, async (t: TestContext) => {
  const folder = folderOf(t)
  const old = oldRegistry(folder)
  rmSync(join(old.root, old.cratePath('crate-3', '1.2.0')))
  const dir = await init(folder, 'new')
  const more = ['--source-url', 'https://ci:sesame@old.example/']
  const imported = await importInto(folder, dir, '--json', ...more)
  const ended = expectCode('plimsoll import', imported, 1)
  assert.doesNotMatch(ended.stderr, /sesame/)
  const report = JSON.parse(ended.stdout)
  assert.deepEqual([report.kind, report.added, report.present, report.refused], ['tree', 39, 0, 1])
  assert.deepEqual(report.own_urls, ['sparse+https://old.example/', 'https://…@old.example/'])
  assert.equal(report.versions.length, 40)
  const isRefused = (version: { outcome: string }) => version.outcome === 'refused'
  const { name, version, messages } = report.versions.find(isRefused)
  assert.deepEqual([name, version], ['crate-3', '1.2.0'])
  assert.match(messages[0], /^there is no \.crate of `crate-3` 1\.2\.0: looked for/)
  const text = await importInto(folder, dir)
  assert.deepEqual([text.code, text.stdout], [1, '0 added, 39 already present, 1 refused\n'])
  assert.match(
    text.stderr,
    /error: .*cr\/at\/crate-3, line 3: crate-3 1\.2\.0: there is no \.crate/,
  )
})

test('an import that is broken off has complete JSON', async t => {
  const folder = folderOf(t)
  oldRegistry(folder)
  const dir = await init(folder, 'new')
  writeFileSync(join(dir, 'crates', 'cr'), 'a file in the place of a folder')
  const { stdout } = expectCode('import', await importInto(folder, dir, '--json'), 1)
  const { versions, added } = JSON.parse(stdout)
  assert.deepEqual([versions, added], [[], 0])
})

test('misuse ends it with 2', async t => {
  const folder = folderOf(t)
  oldRegistry(folder)
  const dir = await init(folder, 'new')
  writeFileSync(join(folder, 'names'), 'demo')
  const old = join(folder, 'old')
  const run = (args: readonly string[]) => plimsollHere(['import', '--dir', dir, ...args])
  await refuses({ run }, [
    [[join(folder, 'none')], 2, /there is no file or folder/],
    [['git+https://ci:sesame@old.example/'], 2, /no file or folder git\+https:\/\/…@old\.example/],
    [[folder], 2, /could be|is; name that folder/],
    [[old, '--as', 'zip'], 2, /Allowed choices are tree, git, sparse/],
    [[old, '--names', 'names'], 2, /--names is for a sparse URL/],
    [[old, '--crates', 'nowhere'], 2, /there is no file or folder nowhere/],
    [[], 2, /missing required argument 'source'/],
    [[old, '--owner', 'nobody'], 1, /there is no user `nobody`/],
    [[old, '--dir', join(folder, 'empty')], 2, /is not a registry/],
  ])
})

test('the front page and pages of crates are there while an import runs', async t => {
  const folder = folderOf(t)
  oldRegistry(folder, 40)
  const dir = await init(folder, 'new')
  const page = (path: string) => {
    const file = join(dir, 'public', path, 'index.html')
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }
  let front = ''
  const args = ['import', join(folder, 'old'), '--dir', dir, '--json']
  const onPrinted = () => {
    if (front !== '' || page('crates/crate-0') === '') return
    front = page('')
    assert.equal(page('crates/crate-39'), '')
  }
  const { code, stdout } = await plimsollHere(args, {}, { onPrinted })
  assert.equal(code, 0)
  assert.equal(JSON.parse(stdout).added, 200)
  assert.match(front, /20 crates, 100 versions/)
})
