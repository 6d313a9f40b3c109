// Mirrors generator/static/build.ts

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { registryUrls } from '../../../core/urls/urls.ts'
import { sumOf } from '../../../generator/places/disk/files.ts'
import { openSqlite } from '../../../generator/places/disk/sqlite-file.ts'
import { PublicTree } from '../../../generator/places/public-tree.ts'
import type { Progress } from '../../../generator/projections/context.ts'
import { followers } from '../../../generator/projections/projections.ts'
import { buildStatic, type StaticResult } from '../../../generator/static/build.ts'
import { buildEvil, type CrateParts } from '../../support/crate-builder.ts'
import { fileStamps, filesBelow, treeDigest } from '../../support/folder.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const BASE = 'https://crates.example'
const needs = (name: string) =>
  `[dependencies.${name}]\nversion = "1"\nregistry-index = "sparse+${BASE}/index/"\n`

interface Job {
  readonly from: string
  readonly out: string
  readonly cache?: string | null
  readonly yanked?: readonly string[]
  readonly skipBad?: boolean
  /** Further lines of the settings. */
  readonly more?: string
  readonly progress?: Progress
}

async function run(job: Job): Promise<StaticResult> {
  const { from, out, cache = null, yanked = [], skipBad = false, more = '', progress } = job
  const text = `yanked = ${JSON.stringify(yanked)}\n${more}\n[registry]\nbase_url = "${BASE}"\napi = "none"\n`
  const { settings } = resolveSettings({ file: { name: 'plimsoll.toml', text } })
  const urls = registryUrls(settings.registry, BASE)
  return buildStatic({
    followers,
    from,
    out,
    settings,
    urls,
    cache,
    skipBad,
    ...(progress && { progress }),
  })
}

/** The messages of the refusal that a build ends with. */
async function refusal(job: Job): Promise<string[]> {
  const error = await run(job).catch((thrown: unknown) => thrown)
  assert.ok(error instanceof Refusal, String(error))
  return error.issues.filter(issue => issue.severity === 'error').map(issue => issue.message)
}

const put = (folder: string, path: string, parts: CrateParts | Uint8Array) =>
  writeCrate(join(folder, path), parts)

const crate = (name: string, version: string, manifest = ''): CrateParts => ({
  name,
  version,
  manifest,
})

function folders(t: TestContext): { from: string; out: string } {
  const folder = folderOf(t)
  mkdirSync(join(folder, 'from'))
  return { from: join(folder, 'from'), out: join(folder, 'out') }
}

/** What Cargo reads of a tree: the index and the `.crate` files, without the pages. */
function cargoFiles(folder: string): string[] {
  return filesBelow(folder).filter(path => path.startsWith('index/') || path.endsWith('.crate'))
}

test('a folder of .crate files becomes a tree: lines by SemVer, no api, what is listed is yanked', async t => {
  const job = folders(t)
  for (const version of ['1.10.0', '1.9.0', '1.10.0-rc.1', '0.1.0'])
    put(job.from, `${version}.crate`, crate('demo', version))
  put(job.from, 'deep/down/x.crate', crate('Other', '1.0.0+build', needs('demo')))
  const result = await run({ ...job, yanked: ['DEMO@1.9.0+any', 'other@1.0.0'] })
  const sums = { crates: 2, releases: 5, changed: filesBelow(job.out).length }
  assert.deepEqual({ ...result, warnings: [] }, { ...sums, warnings: [], refused: [] })
  assert.deepEqual(cargoFiles(job.out), [
    'crates/Other/Other-1.0.0+build.crate',
    'crates/demo/demo-0.1.0.crate',
    'crates/demo/demo-1.10.0-rc.1.crate',
    'crates/demo/demo-1.10.0.crate',
    'crates/demo/demo-1.9.0.crate',
    'index/config.json',
    'index/de/mo/demo',
    'index/ot/he/other',
  ])
  const lines = readFileSync(join(job.out, 'index/de/mo/demo'), 'utf8').trimEnd().split('\n')
  const shown = lines.map(line => JSON.parse(line) as { vers: string; yanked: boolean })
  assert.deepEqual(
    shown.map(({ vers, yanked }) => `${vers} ${yanked}`),
    ['0.1.0 false', '1.9.0 true', '1.10.0-rc.1 false', '1.10.0 false'],
  )
  assert.match(readFileSync(join(job.out, 'index/ot/he/other'), 'utf8'), /"yanked":true/)
  assert.equal(
    readFileSync(join(job.out, 'index/config.json'), 'utf8'),
    `{"dl":"${BASE}/crates/{crate}/{crate}-{version}.crate"}\n`,
  )
})

test('a version that was shown with other bytes is warned of, once', async t => {
  const job = folders(t)
  const warned = async () =>
    (await run(job)).warnings.flatMap(({ code, message }) =>
      code === 'package_replaced' ? message.split(' ')[0] : [],
    )
  put(job.from, 'demo.crate', crate('demo', '1.0.0'))
  assert.deepEqual(await warned(), [])
  put(job.from, 'demo.crate', crate('demo', '1.0.0', 'authors = ["Ann"]'))
  put(job.from, 'more.crate', crate('demo', '1.1.0'))
  assert.deepEqual(await warned(), ['crates/demo/demo-1.0.0.crate'])
  assert.deepEqual(await warned(), [])
})

test('the tree depends on nothing but the bytes: not on folders, file names, order or times', async t => {
  const [first, second] = [folders(t), folders(t)]
  const all = [crate('demo', '1.0.0'), crate('demo', '1.1.0'), crate('other', '2.0.0')]
  for (const [index, parts] of all.entries()) put(first.from, `${index}.crate`, parts)
  for (const [index, parts] of all.entries()) {
    const path = put(second.from, `${9 - index}/some where/${parts.name}.crate`, parts)
    utimesSync(path, 1000 + index, 1000 + index)
  }
  // The same release in two places is one.
  put(second.from, 'again.crate', crate('demo', '1.0.0'))
  symlinkSync(join(second.from, 'again.crate'), join(second.from, 'link.crate'))
  // A folder may be elsewhere, and lead back to itself.
  const elsewhere = folderOf(t)
  for (const parts of [crate('far', '1.0.0'), crate('far', '1.1.0')]) {
    put(first.from, `far-${parts.version}.crate`, parts)
    put(elsewhere, `far-${parts.version}.crate`, parts)
  }
  symlinkSync(elsewhere, join(second.from, 'elsewhere'))
  symlinkSync(second.from, join(elsewhere, 'back'))
  await run(first)
  await run(second)
  assert.equal(treeDigest(first.out), treeDigest(second.out))
  // The tree would lose a crate.
  for (const name of ['lost.crate', 'lost', '.#lock'])
    symlinkSync('nowhere', join(second.from, name))
  const lost = /\/lost: there is no file: a link.*\/lost\.crate: there is no file: a link/s
  await assert.rejects(run(second), lost)
  for (const name of ['lost.crate', 'lost']) rmSync(join(second.from, name))
  await run(second)
})

test('unchanged files are not rewritten; what vanished is removed, what was spoilt is mended', async t => {
  const job = folders(t)
  const first = put(job.from, 'a.crate', crate('demo', '1.0.0'))
  put(job.from, 'b.crate', crate('other', '1.0.0'))
  await run(job)
  const before = fileStamps(job.out)
  assert.equal((await run(job)).changed, 0)
  assert.deepEqual(fileStamps(job.out), before)
  put(job.from, 'c.crate', crate('other', '1.1.0'))
  await run(job)
  const after = fileStamps(job.out)
  const written = cargoFiles(job.out).filter(path => after[path] !== before[path])
  assert.deepEqual(written, ['crates/other/other-1.1.0.crate', 'index/ot/he/other'])
  assert.equal(after['crates/demo/index.html'], before['crates/demo/index.html'])
  rmSync(first)
  writeFileSync(join(job.out, 'crates/other/other-1.0.0.crate'), 'spoilt')
  writeFileSync(join(job.out, 'index/ot/he/other'), 'spoilt')
  writeFileSync(join(job.out, 'mine.txt'), 'mine')
  const remove = t.mock.method(PublicTree.prototype, 'remove')
  await run(job)
  const removed = remove.mock.calls.map(call => call.arguments[0])
  const cargos = removed.filter(path => path.endsWith('/demo') || path.endsWith('.crate'))
  assert.deepEqual(cargos, ['index/de/mo/demo', 'crates/demo/demo-1.0.0.crate'])
  assert.deepEqual(cargoFiles(job.out), [
    'crates/other/other-1.0.0.crate',
    'crates/other/other-1.1.0.crate',
    'index/config.json',
    'index/ot/he/other',
  ])
  assert.equal(readFileSync(join(job.out, 'mine.txt'), 'utf8'), 'mine')
  const fresh = { ...folders(t), from: job.from }
  await run(fresh)
  rmSync(join(job.out, 'mine.txt'))
  assert.equal(treeDigest(job.out), treeDigest(fresh.out))
})

test('a crate that changed its spelling keeps its files', async t => {
  const job = { ...folders(t), cache: join(folderOf(t), 'cache') }
  const old = put(job.from, 'a.crate', crate('Demo', '1.0.0'))
  await run(job)
  rmSync(old)
  put(job.from, 'a.crate', crate('demo', '1.0.0'))
  await run(job)
  assert.deepEqual(cargoFiles(job.out), [
    'crates/demo/demo-1.0.0.crate',
    'index/config.json',
    'index/de/mo/demo',
  ])
})

test('each broken .crate is named, and nothing is written', async t => {
  const job = folders(t)
  put(job.from, 'good.crate', crate('good', '1.0.0'))
  const bad = put(job.from, 'bad.crate', buildEvil('not gzip'))
  const worse = put(job.from, 'deep/worse.crate', buildEvil('no manifest'))
  const messages = await refusal(job)
  assert.equal(messages.length, 2)
  assert.ok(messages[0]?.startsWith(`${bad}: `), messages[0])
  assert.ok(messages[1]?.startsWith(`${worse}: `), messages[1])
  assert.throws(() => filesBelow(job.out), { code: 'ENOENT' })
  // Nor is anything changed where a tree is already.
  const other = put(folders(t).from, 'only.crate', crate('only', '1.0.0'))
  await run({ from: join(other, '..'), out: job.out })
  const before = fileStamps(job.out)
  await refusal(job)
  assert.deepEqual(fileStamps(job.out), before)
})

test('twins are refused: one version with two contents, one name with two spellings', async t => {
  const twins = folders(t)
  const first = put(twins.from, 'a.crate', crate('demo', '1.0.0'))
  const homepage = 'homepage = "https://example.org"'
  const second = put(twins.from, 'b.crate', crate('demo', '1.0.0', homepage))
  const third = put(twins.from, 'c.crate', crate('demo', '1.0.0+build'))
  const twin = (path: string, version: string) =>
    `${path}: ${first} and ${path} are both version ${version}, build metadata aside, with different bytes; keep the one that was published`
  assert.deepEqual(await refusal(twins), [twin(second, '1.0.0'), twin(third, '1.0.0+build')])
  const names = folders(t)
  put(names.from, 'a.crate', crate('my-crate', '1.0.0'))
  const other = put(names.from, 'b.crate', crate('my_crate', '2.0.0'))
  const words = '`my-crate` and `my_crate` are the same name to a registry; keep only one spelling'
  assert.deepEqual(await refusal(names), [`${other}: ${words}`])
})

test('a missing own dependency and an unknown yanked version are refused', async t => {
  const job = folders(t)
  const path = put(job.from, 'a.crate', crate('demo', '1.0.0', needs('gone')))
  const messages = await refusal({ ...job, yanked: ['demo@2.0.0'] })
  assert.equal(messages.length, 2)
  assert.ok(messages[0]?.startsWith(`${path}: `) && messages[0].includes('`gone`'), messages[0])
  assert.equal(
    messages[1],
    '`yanked` in plimsoll.toml names demo@2.0.0, but no such .crate is among the files',
  )
})

test('what says a crate that is left out is deprecated is refused, and the rest is built', async t => {
  const job = { ...folders(t), skipBad: true }
  put(job.from, 'a.crate', crate('demo', '1.0.0'))
  put(job.from, 'b.crate', Buffer.from('no archive'))
  const both = ['demo', 'gone'].map(name => `{ crate = "${name}", reason = "old" }`)
  const { crates, refused } = await run({ ...job, more: `deprecated = [${both}]` })
  assert.equal(crates, 1)
  assert.deepEqual(
    refused.map(({ code }) => code),
    ['archive_not_gzip', 'deprecated_unknown'],
  )
  const record = readFileSync(join(job.out, 'crates/demo/crate.json'), 'utf8')
  assert.equal(JSON.parse(record).versions[0].deprecated.reason, 'old')
})

test('a crate that was deprecated may be gone, or spelled otherwise, at the next build', async t => {
  const job = { ...folders(t), cache: join(folderOf(t), 'cache') }
  put(job.from, 'b.crate', crate('other', '1.0.0'))
  for (const name of ['demo_one', 'DEMO_ONE']) {
    put(job.from, 'a.crate', crate(name, '1.0.0'))
    await run({ ...job, more: `deprecated = [{ crate = "${name}", reason = "old" }]` })
  }
  rmSync(join(job.from, 'a.crate'))
  assert.equal((await run(job)).crates, 1)
})

test('folders that cannot be meant are refused', async t => {
  const job = folders(t)
  put(job.from, 'a.crate', crate('demo', '1.0.0'))
  const [none, up, foreign] = [join(job.from, 'none'), join(job.from, '..'), folders(t).from]
  writeFileSync(join(foreign, 'Cargo.toml'), '')
  const registry = folders(t).from
  for (const name of ['plimsoll.toml', 'locks']) put(registry, name, Buffer.of())
  const alive = join(registry, 'public')
  const lives = `${alive} is the tree of the registry ${registry}, which renders it; choose another --out, or add the files with \`plimsoll add\``
  const inside = (out: string) =>
    `${job.from} lies inside ${out}, which would be rewritten; choose another --out`
  const strange = `${foreign} contains files that are not a public tree; choose an empty folder, or that of an earlier tree`
  const rows: [from: string, out: string, message: string][] = [
    [none, job.out, `there is no file or folder ${none}`],
    [job.from, job.from, inside(job.from)],
    [job.from, up, inside(up)],
    [job.from, foreign, strange],
    [job.from, alive, lives],
  ]
  for (const [from, out, message] of rows) assert.deepEqual(await refusal({ from, out }), [message])
})

test('a name in another case has its index file, also where the tree was lost', async t => {
  const job = { ...folders(t), cache: join(folderOf(t), 'cache') }
  for (const name of ['demo_one', 'DEMO_ONE']) {
    put(job.from, 'a.crate', crate(name, '1.0.0'))
    rmSync(job.out, { recursive: true, force: true })
    await run(job)
    assert.match(readFileSync(join(job.out, 'index/de/mo/demo_one'), 'utf8'), RegExp(`"${name}"`))
  }
})

test('a build that was killed at its first file is done again', async t => {
  const job = folders(t)
  put(job.from, 'a.crate', crate('demo', '1.0.0'))
  put(job.out, 'index/.writing-1', Buffer.of())
  await run(job)
  assert.ok(!filesBelow(job.out).includes('index/.writing-1'))
})

test('a checkout for Pages takes a tree: what is there of git and the host stays', async t => {
  const job = folders(t)
  put(job.from, 'a.crate', crate('demo', '1.0.0'))
  for (const path of ['.git/HEAD', 'CNAME']) put(job.out, path, Buffer.from('x'))
  await run(job)
  assert.deepEqual(filesBelow(job.out).slice(0, 4), ['.git/HEAD', '.nojekyll', '404.html', 'CNAME'])
})

test('a first build that is broken off is done again', async t => {
  const job = folders(t)
  put(job.from, 'a.crate', crate('demo', '1.0.0'))
  const changed = put(job.from, 'b.crate', crate('other', '1.0.0'))
  const progress = (step: string, done: number) => {
    if (done === 2) writeFileSync(changed, `changed after ${step}`)
  }
  await assert.rejects(run({ ...job, progress }), /b\.crate/)
  assert.deepEqual(
    filesBelow(job.out).filter(path => path.endsWith('.crate')),
    ['crates/demo/demo-1.0.0.crate'],
  )
  put(job.from, 'b.crate', crate('other', '1.0.0'))
  assert.equal((await run(job)).crates, 2)
})

test('a crate store below an earlier output stays as it is', async t => {
  const job = folders(t)
  put(job.from, 'a.crate', crate('demo', '1.0.0'))
  await run(job)
  const stored = `crates/de/mo/demo/${'0123456789abcdef'.repeat(4)}.crate`
  mkdirSync(join(job.out, 'crates/de/mo/demo'), { recursive: true })
  put(job.out, stored, Buffer.from('x'))
  assert.equal((await run(job)).changed, 0)
  assert.ok(filesBelow(job.out).includes(stored))
})

test('the output may lie in the folder that is read, and is not read', async t => {
  const { from } = folders(t)
  put(from, 'a.crate', crate('demo', '1.0.0'))
  const job = { from, out: join(from, 'public') }
  await run(job)
  rmSync(join(from, 'a.crate'))
  put(from, 'b.crate', crate('other', '1.0.0'))
  await run(job)
  assert.deepEqual(cargoFiles(job.out), [
    'crates/other/other-1.0.0.crate',
    'index/config.json',
    'index/ot/he/other',
  ])
})

/** Twenty crates and a cache, as a first build leaves them. */
async function cached(t: TestContext): Promise<Job & { cache: string; first: StaticResult }> {
  // What was changed a moment ago is never trusted by its times.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
  const job = { ...folders(t), cache: join(folderOf(t), 'deep', 'cache') }
  for (let i = 0; i < 20; i++)
    put(job.from, `${i}.crate`, crate(`crate-${i}`, '1.0.0', 'readme = "NONE.md"'))
  return { ...job, first: await run(job) }
}

/** Changes what the cache remembers by a statement, its checksum included. */
function forge(cache: string, sql: string): void {
  truncateSync(cache, statSync(cache).size - 64)
  const database = openSqlite(cache)
  database.exec(sql)
  database.close()
  appendFileSync(cache, sumOf('sha256', readFileSync(cache)))
}

test('what the cache remembers is not inspected again, and changes nothing', async t => {
  const { first, ...job } = await cached(t)
  const { cache } = job
  const digest = treeDigest(job.out)
  const bytes = readFileSync(cache)
  assert.deepEqual(await run(job), { ...first, changed: 0 })
  // That it is trusted shows in what no .crate gives reason to: a warning put in with its checksum.
  const extra = '{"code":"readme_unknown","severity":"warning","message":"from the cache"}'
  forge(cache, `UPDATE inspected SET found = replace(found, '"issues":[', '"issues":[${extra},')`)
  const { warnings } = await run(job)
  assert.equal(warnings.filter(warning => warning.message.endsWith(': from the cache')).length, 20)

  // Damage anywhere costs time and a sentence, and nothing else.
  const other = Buffer.from(bytes)
  other.writeUInt8((other.at(5000) ?? 0) ^ 1, 5000)
  const why = {
    'is damaged': [other, Buffer.concat([bytes.subarray(0, -100), bytes.subarray(-64)])],
    'is of a build that did not end': [bytes.subarray(0, -64), bytes.subarray(0, 9000)],
    'is of another version of this program': [Buffer.from(`${'0'.repeat(64)}\nan old one`)],
  }
  for (const [reason, all] of Object.entries(why))
    for (const damaged of all) {
      writeFileSync(cache, damaged)
      rmSync(job.out, { recursive: true })
      const { warnings, ...rest } = await run(job)
      const changed = filesBelow(job.out).length
      assert.deepEqual(rest, { crates: 20, releases: 20, changed, refused: [] })
      assert.deepEqual(
        warnings.filter(({ code }) => code === 'cache_left').map(({ message }) => message),
        [`the cache ${cache} ${reason}, so everything is built; the next build is faster again`],
      )
      assert.equal(treeDigest(job.out), digest)
      assert.deepEqual(await run(job), { ...first, changed: 0 })
    }

  // A file of the operator's is never replaced, whichever that is.
  const crateFile = join(job.from, '1.crate')
  const strange = await run({ ...job, cache: crateFile })
  assert.match(String(strange.warnings.at(-1)?.message), /1\.crate is not a cache of builds/)
  assert.deepEqual(strange.refused, [])

  // Other settings make another tree, so nothing of it is used.
  const titled = await run({ ...job, more: '[pages]\nsource = false' })
  assert.match(String(titled.warnings.at(-1)?.message), /made with other settings/)

  // What is no longer among the files is forgotten.
  rmSync(join(job.from, '0.crate'))
  await run(job)
  await run(job)
  const database = openSqlite(cache)
  const rows = database.prepare("SELECT path FROM tree WHERE path LIKE '%crate-0%'").all()
  database.close()
  assert.deepEqual(rows, [])
})

test('a second build looks at sizes and times only; what differs is mended', async t => {
  const { first, ...job } = await cached(t)
  const page = join(job.out, 'crates/crate-7/index.html')
  const text = readFileSync(page, 'utf8')
  const spoilt = text.replace('crate-7', 'crate-X')
  utimesSync(page, 1000, 1000)
  // Another time, the same bytes: the file stays, and counts as known from now on.
  assert.deepEqual(await run(job), { ...first, changed: 0 })
  writeFileSync(page, spoilt)
  utimesSync(page, 1000, 1000)
  assert.deepEqual(await run(job), { ...first, changed: 0 })
  assert.equal(readFileSync(page, 'utf8'), spoilt)
  // After the machine was started anew, times say nothing.
  forge(job.cache, "UPDATE facts SET value = 'another' WHERE key = 'static_boot'")
  assert.equal((await run(job)).changed, 1)
  assert.equal(readFileSync(page, 'utf8'), text)
  for (const spoil of [
    () => writeFileSync(page, spoilt),
    () => writeFileSync(page, text.slice(1)),
    () => rmSync(page),
    () => writeFileSync(join(job.out, 'crates/crate-7/crate-7-1.0.0.crate'), 'x'),
    () => writeFileSync(join(job.out, 'index/3/c/cra'), 'stranger'),
  ]) {
    mkdirSync(join(job.out, 'index/3/c'), { recursive: true })
    spoil()
    assert.equal((await run(job)).changed, 1)
    assert.equal(readFileSync(page, 'utf8'), text)
  }
})

test('a new .crate is read and rendered, and the others are left alone', async t => {
  const { first, ...job } = await cached(t)
  const before = fileStamps(job.out)
  put(job.from, 'new.crate', crate('new', '1.0.0'))
  const { crates, changed } = await run(job)
  assert.equal(crates, first.crates + 1)
  const after = fileStamps(job.out)
  const kept = [...Object.keys(before)].filter(path => /crates\/crate-|assets\//.test(path))
  assert.ok(kept.length > 60 && changed < 60, `${kept.length} ${changed}`)
  for (const path of kept) assert.deepEqual(after[path], before[path], path)
  const plain = { ...folders(t), from: job.from }
  await run(plain)
  assert.equal(treeDigest(job.out), treeDigest(plain.out))
})

test('with skipBad the tree lacks what is refused, and what needs it', async t => {
  const job = { ...folders(t), skipBad: true }
  put(job.from, 'good.crate', crate('good', '1.0.0'))
  const bad = put(job.from, 'bad.crate', buildEvil('not gzip'))
  const first = put(job.from, 'first.crate', crate('first', '1.0.0', needs('gone')))
  const second = put(job.from, 'second.crate', crate('second', '1.0.0', needs('first')))
  const big = put(job.from, 'big.crate', {
    ...crate('big', '1.0.0'),
    files: { 'noise.bin': randomBytes(300_000) },
  })
  const { crates, refused } = await run({ ...job, more: 'limits.crate_bytes = "200 kB"' })
  assert.equal(crates, 1)
  assert.deepEqual(refused.map(refusal => [refusal.message.split(': ')[0], refusal.code]).sort(), [
    [bad, 'archive_not_gzip'],
    [big, 'crate_too_big'],
    [first, 'dependency_missing'],
    [second, 'dependency_missing'],
  ])
  assert.deepEqual(cargoFiles(job.out), [
    'crates/good/good-1.0.0.crate',
    'index/config.json',
    'index/go/od/good',
  ])
})

test('a cache that cannot be written is none', async t => {
  const job = folders(t)
  put(job.from, 'a.crate', crate('demo', '1.0.0'))
  const file = put(folderOf(t), 'file', Buffer.from(''))
  for (const cache of [join(file, 'cache'), join(file, '..')])
    assert.equal((await run({ ...job, cache })).crates, 1)
  const inside = { ...job, cache: join(job.out, 'cache') }
  await assert.rejects(run(inside), /would be in the tree/)
  // The link stands for /dev/null itself, which must not become a file.
  const nowhere = join(folderOf(t), 'null')
  symlinkSync('/dev/null', nowhere)
  assert.equal((await run({ ...job, cache: nowhere })).crates, 1)
  assert.equal(readlinkSync(nowhere), '/dev/null')
})
