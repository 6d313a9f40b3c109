import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { osvFile, rustSecFile } from '../../support/advisories.ts'
import { frugallyInTheEnd } from '../../support/processor-time.ts'
import { plimsollHere } from '../../support/program.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { serveFiles } from '../../support/static-server.ts'

const BASE = 'https://crates.example'
const OWN = `sparse+${BASE}/index/`
const SOURCE = `source = "${OWN}"`
const CRATES_IO = 'registry+https://github.com/rust-lang/crates.io-index'
const LOW = 'CVSS:3.1/AV:L/AC:H/PR:L/UI:R/S:U/C:L/I:N/A:N'

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** What a lock file says of packages: `name version source: dependencies`. */
function lockOf(...packages: readonly string[]): string {
  const tables = packages.map(line => {
    const [, name, version, source = '', below = ''] =
      /^(\S+) ([^:\s]+)(?: ([^:\s]\S*))?(?:: (.*))?$/.exec(line) ?? []
    const deps = below === '' ? '' : `dependencies = ${JSON.stringify(below.split(', '))}\n`
    const from = source === '' ? '' : `source = "${source}"\n`
    return `[[package]]\nname = "${name}"\nversion = "${version}"\n${from}${deps}`
  })
  return `version = 4\n\n${tables.join('\n')}`
}

const LOCK = lockOf(
  'app 0.1.0: middle, demo 2.0.0',
  `demo 1.0.0 ${CRATES_IO}`,
  `demo 2.0.0 ${OWN}`,
  `hull 1.0.0 ${CRATES_IO}`,
  `idle 1.0.0 ${CRATES_IO}`,
  `middle 0.3.0 ${CRATES_IO}: demo 1.0.0, hull, idle`,
  'tool 0.1.0: app',
  'forked 1.0.0 git+https://git.example/hull#0123',
)

const FILES = {
  'advisories/ACME-2026-0001.md': rustSecFile({
    id: 'ACME-2026-0001',
    more: SOURCE,
    patched: ['>= 2.0.1'],
    title: 'Demo deletes',
  }),
  'db/crates/demo/RUSTSEC-2026-0001.md': rustSecFile({ patched: ['>= 1.0.1'] }),
  'db/crates/hull/RUSTSEC-2026-0002.md': rustSecFile({
    id: 'RUSTSEC-2026-0002',
    name: 'hull',
    more: 'informational = "unmaintained"',
  }),
  'db/crates/idle/RUSTSEC-2026-0003.md': rustSecFile({
    id: 'RUSTSEC-2026-0003',
    name: 'idle',
    more: `cvss = "${LOW}"`,
    patched: ['> 1'],
  }),
}

const FOUND = `demo 1.0.0: RUSTSEC-2026-0001 (no CVSS) Demo has a hole
  by app 0.1.0 > middle 0.3.0 > demo 1.0.0
  fixed in 1.0.1
demo 2.0.0: ACME-2026-0001 (no CVSS) Demo deletes
  by app 0.1.0 > demo 2.0.0
  fixed in 2.0.1
hull 1.0.0: RUSTSEC-2026-0002 (unmaintained) Demo has a hole
  by app 0.1.0 > middle 0.3.0 > hull 1.0.0
  no version is known to be free of it
idle 1.0.0: RUSTSEC-2026-0003 (low) Demo has a hole
  by app 0.1.0 > middle 0.3.0 > idle 1.0.0
  fixed in 1.0.1-0
`

const treeOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(join(folder, 'advisories')).map(name => [
      name,
      readFileSync(join(folder, 'advisories', name), 'utf8'),
    ]),
  )

test('a lock file is checked against a registry folder, a static tree and an address', async t => {
  const registry = await registryFolder(t)
  const { folder, dir } = registry
  write(dir, FILES)
  write(folder, { 'Cargo.lock': LOCK })
  await registry.ok('advisories', 'update', join(dir, 'db'))
  const server = await serveFiles(join(dir, 'public'))
  t.after(() => server.close())
  const check = async (...args: readonly string[]) =>
    registry.run('advisories', 'check', 'Cargo.lock', ...args)
  for (const from of [
    [],
    ['--from', dir],
    ['--from', join(dir, 'public')],
    ['--from', server.url],
    ['--from', `sparse+${server.url}/index/`],
  ]) {
    const { code, stdout, stderr } = await check(...from)
    assert.deepEqual([code, stderr], [1, ''], from.join(' '))
    assert.equal(stdout, `${FOUND}4 advisories for 8 packages; 3 denied\n`)
  }
  assert.equal((await check('--deny', 'high')).stdout.split('; ').at(-1), '2 denied\n')
  assert.equal((await check('--deny', 'critical')).code, 0)
  const { denied, advisories } = JSON.parse((await check('--json')).stdout)
  assert.equal(denied, 3)
  assert.deepEqual(advisories[3], {
    id: 'RUSTSEC-2026-0003',
    title: 'Demo has a hole',
    severity: 'low',
    informational: null,
    aliases: [],
    fixed: ['1.0.1-0'],
    package: 'idle',
    version: '1.0.0',
    source: 'https://github.com/rust-lang/crates.io-index',
    path: ['app 0.1.0', 'middle 0.3.0', 'idle 1.0.0'],
  })
})

test('what is no lock file, and what has no advisories, is a clear error', async t => {
  const registry = await registryFolder(t)
  const { folder, dir } = registry
  write(folder, {
    'Cargo.lock': LOCK,
    'new.lock': 'version = 5\n',
    'toml.lock': '[',
    'long.lock': ' '.repeat(16 * 1024 ** 2 + 1),
  })
  for (const [args, message] of [
    [[folder], 'cannot be read as a Cargo.lock: it is no regular file'],
    [['/dev/zero'], 'cannot be read as a Cargo.lock: it is no regular file'],
    [['missing'], 'cannot be read as a Cargo.lock: it is no regular file'],
    [['new.lock'], 'its version is 5, and 4 is the newest that is known'],
    [['toml.lock'], 'Invalid TOML document'],
    [['long.lock'], 'long.lock'],
    [['Cargo.lock', '--from', join(dir, 'public')], 'has no list of advisories'],
    [['Cargo.lock', '--from', 'missing'], 'has no list of advisories'],
  ] as const) {
    const { code, stdout, stderr } = await registry.run('advisories', 'check', ...args)
    assert.deepEqual([code, stdout], [1, ''], stderr)
    assert.ok(stderr.startsWith('error: ') && stderr.includes(message), `${args} ${stderr}`)
  }
})

test('a lock of 4,000 packages, with thousands of one name, is checked in a second', async t => {
  const registry = await registryFolder(t)
  write(registry.dir, FILES)
  await registry.ok('advisories', 'update', join(registry.dir, 'db'))
  const many = Array.from(
    { length: 4000 },
    (_, at) => `demo 1.0.${at} ${CRATES_IO}: demo 1.0.${(at + 1) % 4000}`,
  )
  write(registry.folder, { 'Cargo.lock': lockOf('app 0.1.0: demo', ...many) })
  const check = () => registry.run('advisories', 'check', 'Cargo.lock')
  const { stdout } = await frugallyInTheEnd(check, 'the check', 1000)
  assert.ok(stdout.endsWith('1 advisory for 4,001 packages; 1 denied\n'), stdout)
})

test('the tree has an OSV file for each advisory, and the same bytes however it is built', async t => {
  const registry = await registryFolder(t)
  const { folder, dir } = registry
  write(dir, FILES)
  registry.put('crates/demo-2.0.0.crate', { name: 'demo', version: '2.0.0' })
  await registry.ok('add', 'crates')
  await registry.ok('advisories', 'update', join(dir, 'db'))
  const tree = treeOf(join(dir, 'public'))
  assert.deepEqual(Object.keys(tree).sort(), [
    'ACME-2026-0001.json',
    'RUSTSEC-2026-0001.json',
    'RUSTSEC-2026-0002.json',
    'RUSTSEC-2026-0003.json',
    'index.json',
  ])
  const own = JSON.parse(tree['ACME-2026-0001.json'] ?? '')
  assert.equal(own.affected[0].package.ecosystem, `crates.io:${OWN}`)
  assert.equal(await registry.ok('verify'), 'everything agrees\n')
  rmSync(join(dir, 'public'), { recursive: true })
  await registry.ok('build')
  assert.deepEqual(treeOf(join(dir, 'public')), tree)
  // A static build reads `advisories/` and `from` of its folder.
  write(folder, {
    'static/plimsoll.toml': 'advisories.from = ["db"]\n',
    ...Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`static/${path}`, text])),
  })
  registry.put('static/demo-2.0.0.crate', { name: 'demo', version: '2.0.0' })
  const build = () =>
    plimsollHere(
      ['build', '--from', 'static', '--out', 'out', '--base-url', BASE],
      {},
      { cwd: folder },
    )
  const first = await build()
  assert.equal(first.code, 0, first.stderr)
  assert.deepEqual(treeOf(join(folder, 'out')), tree)
  // A bad file is left out and named, one that is gone is gone, and the rest is there.
  write(folder, { 'static/advisories/bad.md': 'bad' })
  rmSync(join(folder, 'static/db/crates/idle'), { recursive: true })
  const second = await build()
  assert.equal(second.code, 1)
  assert.match(second.stderr, /^error: bad\.md: this is no advisory of RustSec or OSV/m)
  assert.deepEqual(Object.keys(treeOf(join(folder, 'out'))).sort(), [
    'ACME-2026-0001.json',
    'RUSTSEC-2026-0001.json',
    'RUSTSEC-2026-0002.json',
    'index.json',
  ])
})

test('an update stays until the next one, and names what it leaves out', async t => {
  const registry = await registryFolder(t)
  const { folder, dir } = registry
  write(folder, {
    'new/a.json': osvFile(),
    'new/b.json': '{}',
    'old/c.md': rustSecFile({ id: 'RUSTSEC-2026-0009' }),
  })
  const env = ['--set', `advisories.from=${join(folder, 'old')}`]
  const ids = () => Object.keys(treeOf(join(dir, 'public'))).sort()
  await registry.ok('build', ...env)
  assert.deepEqual(ids(), ['RUSTSEC-2026-0009.json', 'index.json'])
  const { code, stdout, stderr } = await registry.run('advisories', 'update', 'new', ...env)
  assert.deepEqual([code, stdout], [1, '2 advisories changed\n'])
  assert.match(stderr, /^error: b\.json: this is no advisory/)
  assert.deepEqual(ids(), ['RUSTSEC-2026-0001.json', 'index.json'])
  await registry.ok('build', ...env)
  assert.deepEqual(ids(), ['RUSTSEC-2026-0001.json', 'index.json'])
  assert.equal(await registry.ok('advisories', 'update', ...env), '2 advisories changed\n')
  assert.deepEqual(ids(), ['RUSTSEC-2026-0009.json', 'index.json'])
})
