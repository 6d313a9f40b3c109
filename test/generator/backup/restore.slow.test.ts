import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { restore, restoredSettings } from '../../../generator/backup/restore.ts'
import { completeMirror, isMirrored } from '../../../generator/deploy/complete-mirror.ts'
import { openRegistry } from '../../../generator/open.ts'
import { readSettings } from '../../../generator/registry/folder.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { fileStamps, filesBelow } from '../../support/folder.ts'
import { root } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { serveWeb } from '../../support/web-server.ts'
import { folderOf, indexVersions } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

type Environment = Readonly<Record<string, string>>

/** A registry with these settings, a backup in a pause after its first version, and a second. */
async function scene(t: TestContext, settings: string, env: Environment = {}) {
  const folder = folderOf(t)
  const at = (...names: string[]) => join(folder, ...names)
  const [live, tar, restored] = [at('live'), at('backup.tar'), at('restored')]
  const said = async (args: readonly string[], code = 0, more: Environment = {}) => {
    const ended = await plimsollHere(args, { ...env, ...more })
    assert.equal(ended.code, code, `${args.join(' ')}: ${ended.stderr}`)
    return ended
  }
  mkdirSync(live)
  const text = `[registry]\nbase_url = "https://crates.example"\n\n${settings}`
  writeFileSync(at('live', 'plimsoll.toml'), text)
  const add = async (version: string) => {
    const path = writeCrate(at(`demo-${version}.crate`), { name: 'demo', version })
    await said(['add', path, '--dir', live])
  }
  await add('1.0.0')
  await said(['pause', '--dir', live])
  await said(['backup', tar, '--dir', live])
  await said(['resume', '--dir', live])
  await add('1.1.0')
  return { at, live, tar, restored, said }
}

/** What a restored registry shows, and that it agrees with itself. */
async function agrees(t: TestContext, dir: string, env: Environment = {}): Promise<void> {
  const registry = await openRegistry(dir, { env })
  new Cleanup(t).add(() => registry.close())
  assert.deepEqual(indexVersions(registry, 'index/de/mo/demo'), ['1.0.0'])
  const verified = await plimsollHere(['verify', '--dir', dir], env)
  assert.deepEqual([verified.code, verified.stdout], [0, 'everything agrees\n'], verified.stderr)
}

/** A git repository for pushes, and the commits in it. */
function remote(t: TestContext) {
  const path = folderOf(t)
  execFileSync('git', ['init', '-q', '--bare', path])
  return { path, log: () => execFileSync('git', ['-C', path, 'log', '--all', '--format=%H']) }
}

/** The address of a CDN, and how often it was told to forget something. */
async function cdn(t: TestContext) {
  const seen = { purges: 0 }
  const url = await serveWeb(t, (_, response) => {
    seen.purges++
    response.end()
  })
  return { url: `${url}/`, seen }
}

test('a restored registry leaves buckets, git remote and CDN alone that the backup names', async t => {
  const s3 = await startS3(new Cleanup(t))
  const [{ path, log }, { url, seen }] = [remote(t), await cdn(t)]
  const settings = `# Of the operator.
[storage]
crates = "s3://test/crates"
public = "s3://test/www"
cache_seconds = "1m"

[git]
push = ["${path}"]

[cdn]
purge_url = "${url}{path}"

[limits]
crate_bytes = "20 MiB"
`
  const env = s3.env({})
  const { at, live, tar, restored, said } = await scene(t, settings, env)
  const pushed = log().toString()
  assert.equal(pushed.trim().split('\n').length, 2)
  const { purges } = seen
  assert.ok(purges > 0)
  s3.requests.splice(0)
  const { stdout, stderr } = await said(['restore', tar, '--dir', restored])
  assert.equal(stderr, '')
  assert.equal(
    stdout,
    `restored 1 .crate file
plimsoll.toml is without storage.crates, storage.public, git.push, cdn.purge_url, which would lead out of the folder or are unknown; plimsoll.original.toml has all settings
the registry is in ${restored}; check it with \`plimsoll verify --dir ${restored}\`
`,
  )
  await said(['verify', '--repair', '--dir', restored])
  await said(['build', '--all', '--dir', restored])
  await agrees(t, restored, env)
  assert.deepEqual(s3.requests, [])
  assert.deepEqual([log().toString(), seen.purges], [pushed, purges])
  await said(['verify', '--dir', live])
  const original = readFileSync(at('live', 'plimsoll.toml'), 'utf8')
  assert.equal(readFileSync(at('restored', 'plimsoll.original.toml'), 'utf8'), original)
  const text = readFileSync(at('restored', 'plimsoll.toml'), 'utf8')
  assert.match(text, /^# Restored from a backup, .*\n# {3}storage\.crates\n/)
  const kept = readSettings(restored, { env: {} })
  const inFile = [...kept.origins].filter(([, origin]) => typeof origin === 'object')
  assert.deepEqual(Object.fromEntries(inFile.map(([key]) => [key, kept.values.get(key)])), {
    'registry.base_url': 'https://crates.example',
    'storage.cache_seconds': 60,
    'limits.crate_bytes': 20 * 1024 ** 2,
  })
  for (const name of ['plimsoll.toml', 'plimsoll.original.toml', 'plimsoll.db'])
    assert.equal(statSync(at('restored', name)).mode & 0o077, 0, name)
})

test('it takes the place of the other one when it gets the settings of the backup', async t => {
  const s3 = await startS3(new Cleanup(t))
  const settings = '[storage]\ncrates = "s3://test/crates"\npublic = "s3://test/www"\n'
  const env = s3.env({})
  const { at, live, tar, restored, said } = await scene(t, settings, env)
  const before = await openRegistry(live, { env })
  await completeMirror(before)
  await before.close()
  await said(['backup', at('later.tar'), '--dir', live])
  for (const [file, dir] of [
    [tar, restored],
    [at('later.tar'), at('again')],
  ] as const) {
    await said(['restore', file, '--dir', dir])
    await said(['migrate', '--crates', 's3://test/crates', '--dir', dir])
    await said(['deploy', '--from', join(dir, 'public'), '--to', 's3://test/www', '--delete'])
    renameSync(join(dir, 'plimsoll.original.toml'), join(dir, 'plimsoll.toml'))
    const after = await openRegistry(dir, { env })
    // The bucket may have a newer tree than the backup.
    assert.equal(await isMirrored(after), false)
    await completeMirror(after)
    await after.close()
    const lines = s3.objects.get('www/index/de/mo/demo')?.bytes.toString().trim().split('\n')
    assert.equal(lines?.length, file === tar ? 1 : 2)
    assert.equal(s3.objects.has('www/crates/demo/demo-1.1.0.crate'), file !== tar)
  }
})

test('folders elsewhere, in the settings or the environment, are left alone', async t => {
  const elsewhere = folderOf(t)
  const places = { crates: join(elsewhere, 'crates'), public: join(elsewhere, 'www') }
  const settings = `[storage]\ncrates = "../crates"\npublic = ${JSON.stringify(places.public)}\n`
  const { at, tar, restored, said } = await scene(t, settings)
  const [tree, store] = [fileStamps(places.public), filesBelow(at('crates'))]
  await said(['restore', tar, '--dir', restored])
  await agrees(t, restored)
  const env = {
    PLIMSOLL_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    PLIMSOLL_STORAGE_CRATES: at('crates'),
    PLIMSOLL_STORAGE_PUBLIC: places.public,
  }
  const { stdout, stderr } = await said(['restore', tar, '--dir', at('other')], 0, env)
  assert.equal(
    stderr,
    `warning: the environment names places outside of ${at('other')} (${Object.keys(env).join(', ')}): restore ignored them, but other commands will change what is there; unset them while they belong to another registry\n`,
  )
  const [, flags = ''] = /`plimsoll verify --dir \S+ (.*)`/.exec(stdout) ?? []
  const verified = await said(['verify', '--dir', at('other'), ...flags.split(' ')], 0, env)
  assert.equal(verified.stdout, 'everything agrees\n')
  await agrees(t, at('other'))
  const json = ['restore', tar, '--dir', at('json'), '--json']
  assert.deepEqual(JSON.parse((await said(json, 0, env)).stdout), {
    dir: at('json'),
    crate_files: 1,
    left_out: ['storage.crates', 'storage.public'],
    ignored: Object.keys(env),
  })
  assert.deepEqual([fileStamps(places.public), filesBelow(at('crates'))], [tree, store])
})

test('a backup of another version is restored without the settings that this one does not know', t => {
  const text = '[pages]\nshine = true\nfooter = "Ours"\n\n[lamps]\ncolor = "red"\n'
  const restored = restoredSettings(folderOf(t), { name: 'plimsoll.toml', text }, { env: {} })
  assert.deepEqual(restored.leftOut, ['pages.shine', 'lamps'])
  assert.match(restored.text, /^# {3}pages\.shine$/m)
  const { settings } = resolveSettings({ file: { name: '', text: restored.text }, env: {} })
  assert.equal(settings.pages.footer, 'Ours')
  const flags = { 'pages.shine': 'true' }
  const file = { name: 'plimsoll.toml', text: '' }
  assert.throws(() => restoredSettings(folderOf(t), file, { env: {}, flags }), /pages\.shine/)
})

test('restored records have no log that could go away while everything is moved', async t => {
  const { tar, restored } = await scene(t, '')
  await restore(tar, restored, { env: {} })
  assert.deepEqual(readdirSync(restored).sort(), ['crates', 'plimsoll.db', 'plimsoll.toml'])
})

test('a flag that leads out of the folder, or to places that overlap, is refused', async t => {
  const { at, tar, restored, said } = await scene(t, '')
  const outside = `leads out of ${restored}, where restore changes nothing; leave it out\n`
  for (const [set, message] of [
    ['storage.public=../live/public', `error: \`storage.public\` ${outside}`],
    ['database.url=postgres://x@127.0.0.1:9/x', `error: \`database.url\` ${outside}`],
    ['storage.crates=public', 'public lie inside each other'],
  ] as const) {
    const { stderr } = await said(['restore', tar, '--dir', restored, '--set', set], 2)
    assert.ok(stderr.includes(message), stderr)
    assert.equal(existsSync(restored), false)
  }
  const env = { PLIMSOLL_STORAGE_PUBLIC: at('live', 'public') }
  const flag = ['--set', 'storage.public=public']
  const { stderr } = await said(['restore', tar, '--dir', restored, ...flag], 0, env)
  assert.equal(stderr, '')
  await agrees(t, restored)
})

test('restore writes the settings that it renders with', async t => {
  const { at, tar, restored, said } = await scene(t, '[limits]\ncrate_bytes = "20 MiB"\n')
  const base = 'https://other.example'
  const set = `registry.base_url=${base}`
  const { stdout } = await said(['restore', tar, '--dir', restored, '--set', set])
  assert.match(stdout, /^plimsoll\.toml has registry\.base_url as on the command line; /m)
  await agrees(t, restored)
  const config = readFileSync(at('restored', 'public', 'index', 'config.json'), 'utf8')
  assert.ok(config.startsWith(`{"dl":"${base}/`), config)
  const { settings } = readSettings(restored, { env: {} })
  const { registry, limits } = settings
  assert.deepEqual([registry.base_url, limits.crate_bytes], [base, 20 * 1024 ** 2])
  const [original, before] = [at('restored', 'plimsoll.original.toml'), at('live', 'plimsoll.toml')]
  assert.deepEqual(readFileSync(original), readFileSync(before))
})

test('settings within the folder stay as they are, and .crate files are where they say', async t => {
  const settings = '[storage]\n# Served by nginx.\npublic = "www"\ncrates = "files"\n'
  const { at, tar, restored, said } = await scene(t, settings)
  await said(['restore', tar, '--dir', restored])
  const [before, after] = ['live', 'restored'].map(name => readFileSync(at(name, 'plimsoll.toml')))
  assert.deepEqual(after, before)
  const names = readdirSync(restored).filter(name => !name.startsWith('plimsoll.'))
  assert.deepEqual(names.sort(), ['files', 'locks', 'www'])
  await agrees(t, restored)
})

test('a file system is restored to where it is mounted', async t => {
  const { at, tar, restored, said } = await scene(t, '')
  mkdirSync(at('restored', 'lost+found'), { recursive: true })
  appendFileSync(at('restored', 'lost+found', 'x'), 'x')
  // Another folder in its place would not be that of the file system, and one beside it is on
  // another one, which may be read-only.
  const stamps = () => [statSync(restored).ino, statSync(at()).mtimeMs]
  const before = stamps()
  await said(['restore', tar, '--dir', restored])
  assert.deepEqual(stamps(), before)
  assert.equal(readFileSync(at('restored', 'lost+found', 'x'), 'utf8'), 'x')
  await agrees(t, restored)
  const { stderr } = await said(['restore', tar, '--dir', restored], 1)
  assert.match(stderr, /^error: \S+ is not empty, it contains \S+; restore into a new folder/)
})

test('a backup goes through a pipe, and what is cut off is refused by name', async t => {
  const { live, at, restored } = await scene(t, '')
  const program = `'${process.execPath}' '${join(root, 'dist', 'program', 'cli.js')}'`
  const piped = (filter: string, dir: string) => {
    const pipe = `${program} backup - --dir ${live} | ${filter} | ${program} restore - --dir ${dir}`
    return spawnSync('sh', ['-c', pipe], { encoding: 'utf8' })
  }
  const whole = piped('cat', restored)
  assert.equal(whole.status, 0, whole.stderr)
  assert.match(whole.stderr, /^the backup contains the registry with its 2 \.crate files/m)
  assert.match(whole.stderr, /^its copy of the records was checked, and is sound$/m)
  assert.match(whole.stdout, /^restored 2 \.crate files$/m)
  const cut = piped('head -c 5000', at('cut'))
  assert.equal(cut.status, 1)
  assert.match(cut.stderr, /^error: standard input cannot be read as a backup: /m)
})
