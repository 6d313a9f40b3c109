import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CRATES_IO } from '../../../../core/index-url.ts'
import { sha256 } from '../../../../core/sha256.ts'
import { Cleanup } from '../../../support/cleanup.ts'
import { buildCrate } from '../../../support/crate-builder.ts'
import { filesBelow } from '../../../support/folder.ts'
import { MadeUpUpstream } from '../../../support/made-up-upstream.ts'
import { plimsollHere } from '../../../support/program.ts'
import { folderOf } from '../../../support/workplace.ts'
import { writeCrate } from '../../../support/write-crate.ts'

/** Makes a registry with the upstream `up`, and returns what runs commands in it. */
async function start(t: TestContext, more: NodeJS.ProcessEnv = {}) {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const folder = folderOf(t)
  const env = {
    PLIMSOLL_GIT_INDEX: 'off',
    PLIMSOLL_REGISTRY_BASE_URL: 'https://crates.example',
    PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
    ...more,
  }
  const run = (...args: string[]) => plimsollHere(args, env, { cwd: folder })
  const ok = async (...args: string[]) => {
    const ended = await run(...args)
    assert.equal(ended.code, 0, ended.stderr)
    return ended.stdout
  }
  await ok('init')
  const upstream = (...args: string[]) => ok('upstream', ...args)
  const kept = () =>
    filesBelow(join(folder, 'registry', 'upstream', 'up'))
      .map(path => path.replace(/-[0-9a-f]{64}\./, '-….'))
      .sort()
  return { made, folder, run, ok, upstream, kept }
}

const locked = (line: string, source: string = CRATES_IO) => {
  const { name, vers, cksum } = JSON.parse(line)
  return `[[package]]\nname = "${name}"\nversion = "${vers}"\nsource = "registry+${source}"\nchecksum = "${cksum}"\n`
}

test('impact goes through what is kept of an upstream, and own crates that require it', async t => {
  const { made, folder, ok, upstream } = await start(t)
  const lines = [
    made.publish({ name: 'leaf' }),
    made.publish({ name: 'root', deps: { leaf: '1' } }),
  ]
  made.publish({ name: 'unkept', deps: { leaf: '1' } })
  writeFileSync(join(folder, 'a.lock'), lines.map(line => locked(line)).join(''))
  await upstream('fetch', '--lock', 'a.lock', '--upstream', 'up')
  const index = made.index
  const manifest = `[dependencies.root]\nversion = "1"\nregistry-index = "${index}"\n`
  writeCrate(join(folder, 'own.crate'), { name: 'own', version: '2.0.0', manifest })
  await ok('add', 'own.crate')
  const { target, reaches } = JSON.parse(await ok('impact', 'leaf@1.0.0', '--json'))
  assert.equal(target.here, false)
  const shown = reaches.map(({ crate, how, path }: Record<string, string>) => [crate, how, path])
  assert.deepEqual(shown, [
    ['root', 'resolved', ['root@1.0.0', 'leaf@1.0.0']],
    ['own', 'resolved', ['own@2.0.0', 'root@1.0.0', 'leaf@1.0.0']],
  ])
})

test('fetch brings what lock files name, goes on where it was, and renders a tree', async t => {
  const { made, folder, run, upstream, kept } = await start(t, {
    PLIMSOLL_UPSTREAM_UP_OFFLINE: 'false',
  })
  const [leaf, , root] = [
    made.publish({ name: 'leaf' }),
    made.publish({ name: 'leaf', version: '1.1.0' }),
    made.publish({ name: 'root', deps: { leaf: '1' } }),
  ]
  writeFileSync(join(folder, 'a.lock'), locked(leaf) + locked(root))
  const fetched = await upstream('fetch', '--lock', 'a.lock', '--upstream', 'up')
  assert.match(fetched, /^2 versions fetched \(.*\), 0 were here; the tree of up has 2 crates$/m)
  assert.deepEqual(kept(), [
    'crates/leaf-1.0.0-….crate',
    'crates/root-1.0.0-….crate',
    'index/config.json',
    'index/le/af/leaf',
    'index/ro/ot/root',
    'lines/le/af/leaf',
    'lines/ro/ot/root',
  ])
  made.requests.clear()
  const again = await upstream('fetch', '--lock', 'a.lock', '--upstream', 'up', '--json')
  assert.deepEqual(JSON.parse(again), {
    ...{ fetched: 0, present: 2, bytes: 0, others: 0, crates: 2, changed: 0, until: null },
  })
  assert.deepEqual(made.requests.lines, [])
  writeFileSync(join(folder, 'b.lock'), locked(leaf.replace(/"cksum":"\w/, '"cksum":"')))
  const wrong = locked(leaf).replace(/checksum = "../, 'checksum = "00')
  writeFileSync(join(folder, 'b.lock'), wrong + locked(leaf, `${made}/elsewhere`))
  const failed = await run('upstream', 'fetch', '--lock', 'b.lock', '--upstream', 'up')
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /has no `leaf` 1\.0\.0 with the checksum of the lock file/)
})

test('fetch takes crates.io from the upstream of that name, and says what it leaves out', async t => {
  const copy = await MadeUpUpstream.start(new Cleanup(t))
  const { folder, upstream } = await start(t, {
    PLIMSOLL_UPSTREAM_ABC_INDEX: 'sparse+http://127.0.0.1:1/',
    PLIMSOLL_UPSTREAM_CRATES_IO_INDEX: copy.index,
  })
  const line = copy.publish({ name: 'demo' })
  writeFileSync(join(folder, 'Cargo.lock'), locked(line) + locked(line, 'https://else.example/'))
  const fetched = await upstream('fetch', '--lock', 'Cargo.lock', '--upstream', 'crates-io')
  assert.match(fetched, /^1 version fetched .*\nleft out: 1 package of other registries$/m)
})

test('without a name, the upstream that answers for missing names is meant', async t => {
  const { made, upstream } = await start(t, {
    PLIMSOLL_UPSTREAM_ABC_INDEX: 'sparse+http://127.0.0.1:1/',
    PLIMSOLL_UPSTREAM_UP_FALLBACK: 'serve',
    PLIMSOLL_UPSTREAM_UP_HOLD: '3d',
  })
  made.publish({ name: 'demo' })
  assert.match(await upstream('explain', 'demo'), /\(upstream\.up\.hold: 3d\)/)
})

test('fetch brings the newest versions that fit and are shown, with all that they need', async t => {
  const { made, upstream, run, kept } = await start(t, { PLIMSOLL_UPSTREAM_UP_HOLD: '7d' })
  const old = '2020-01-01T00:00:00Z'
  for (const version of ['1.0.0', '1.5.0', '2.0.0'])
    made.publish({ name: 'leaf', version, pubtime: old })
  made.publish({ name: 'leaf', version: '1.9.0', pubtime: '2999-01-01T00:00:00Z' })
  made.publish({ name: 'root', version: '0.3.1', deps: { leaf: '1' }, pubtime: old })
  await upstream('fetch', '--crate', 'root@0.3')
  assert.deepEqual(
    kept().filter(path => path.endsWith('.crate')),
    ['crates/leaf-1.5.0-….crate', 'crates/root-0.3.1-….crate'],
  )
  const failed = await run('upstream', 'fetch', '--crate', 'leaf@9', 'nobody')
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /no version of `leaf` that fits \^9 and is shown/)
  assert.match(failed.stderr, /no version of `nobody` that fits \* and is shown/)
  const bad = await run('upstream', 'fetch', '--crate', 'leaf@v1')
  assert.deepEqual(
    [bad.code, bad.stderr.slice(0, 38)],
    [2, 'error: `leaf@v1` names no crate to fet'],
  )
})

test('who names a version that is there with build metadata only is told its whole name', async t => {
  const { made, upstream, run } = await start(t)
  made.publish({ name: 'demo', version: '1.0.0+meta' })
  await upstream('explain', 'demo@1.0.0+meta')
  for (const spec of ['demo@1.0.0', 'demo@1.0.0+other'])
    for (const verb of ['explain', 'allow', 'accept']) {
      const { code, stderr } = await run('upstream', verb, spec)
      assert.deepEqual(
        [code, /here, but 1\.0\.0\+meta, which differs/.test(stderr)],
        [1, true],
        verb,
      )
    }
  // What is not there at all may be allowed before it comes, and a decision be taken back.
  await upstream('allow', 'demo@1.0.1')
  await upstream('allow', 'demo@1.0.0', '--undo')
})

test('status and page name the rules that match no version known here', async t => {
  const { made, upstream, ok } = await start(t, {
    PLIMSOLL_UPSTREAM_UP_DENY: 'demo@<1.0.0, demo@1.0.0, other, de*, x*',
    PLIMSOLL_UPSTREAM_UP_ALLOW: 'demo@1.0.0, DEMO',
  })
  made.publish({ name: 'demo', version: '1.0.0+meta' })
  await upstream('explain', 'demo')
  const rules = ['allow: demo@1.0.0', 'deny: demo@<1.0.0', 'deny: other', 'deny: x*']
  const { unmatched } = JSON.parse(await ok('status', '--json')).upstream
  assert.deepEqual(
    unmatched,
    rules.map(rule => ({ upstream: 'up', rule })),
  )
  const text = await ok('status')
  for (const rule of rules)
    assert.ok(text.includes(`rule      upstream.up.${rule} matches no version known here`), text)
})

test('explain says what is held, until when, and who may allow it; allow and accept decide', async t => {
  const { made, upstream, run, ok } = await start(t, { PLIMSOLL_UPSTREAM_UP_HOLD: '7d' })
  made.publish({ name: 'demo', version: '1.0.0', pubtime: '2020-01-01T00:00:00Z' })
  made.publish({ name: 'demo', version: '1.1.0', pubtime: '2999-01-01T00:00:00Z' })
  assert.equal(
    await upstream('explain', 'demo'),
    `demo@1.0.0 is shown\ndemo@1.1.0 is shown as yanked (upstream.up.hold: 7d) until 2999-01-08; \`plimsoll upstream allow demo@1.1.0 --upstream up\` or an administrator's page shows it at once\n`,
  )
  await upstream('allow', 'demo@1.1.0')
  assert.deepEqual(JSON.parse(await upstream('explain', 'demo@1.1.0', '--json')), [
    {
      upstream: 'up',
      name: 'demo',
      version: '1.1.0',
      state: 'shown',
      rule: null,
      until: null,
      changed: false,
      allowed: true,
      mayAllow: false,
      advisories: [],
    },
  ])
  await upstream('allow', 'demo@1.1.0', '--undo')
  assert.match(await upstream('explain', 'demo@1.1.0'), /held|shown as yanked/)
  made.edit('demo', lines => lines.slice(1))
  assert.match(await upstream('explain', 'demo@1.0.0'), /does not have it any more/)
  assert.match(await ok('status'), /^alarm /m)
  assert.match(await upstream('accept', 'DEMO@1.0.0'), /^accepted DEMO@1\.0\.0/)
  assert.doesNotMatch(await ok('status'), /^alarm /m)
  const gone = await run('upstream', 'explain', 'demo@1.0.0')
  assert.deepEqual([gone.code, gone.stderr], [1, 'error: the upstream `up` has no `demo@1.0.0`\n'])
  const actions = (await ok('audit')).match(/upstream-\w+/g)
  assert.deepEqual(actions, ['upstream-allow', 'upstream-hold', 'upstream-accept'])
})

test('prune removes lines of which no .crate was ever here, and no others', async t => {
  const { made, folder, run, upstream, kept } = await start(t)
  const line = made.publish({ name: 'used' })
  for (const name of ['seen', 'named']) made.publish({ name })
  writeFileSync(
    join(folder, 'Cargo.lock'),
    locked(made.publish({ name: 'named', version: '1.1.0' })),
  )
  await upstream('fetch', '--crate', 'used')
  for (const name of ['seen', 'named']) await upstream('explain', name)
  const asked = await run('upstream', 'prune', '--keep-lock', 'Cargo.lock')
  assert.match(asked.stdout, /^would remove 2 files \(/)
  await upstream('prune', '--keep-lock', 'Cargo.lock', '--yes')
  const lines = () => kept().filter(path => !path.startsWith('index/'))
  assert.deepEqual(lines(), ['lines/na/me/named', 'lines/us/ed/used'])
  // Its .crate was here: the lines are what a changed past is recognized by.
  await upstream('prune', '--older-than', '1s')
  assert.ok(lines().includes('lines/us/ed/used'))
  made.edit('used', () => [line.replace(/"cksum":".{4}/, '"cksum":"0000')])
  assert.match(await upstream('explain', 'used'), /the upstream has changed it/)
})

test('prune asks first, and keeps what lock files name', async t => {
  const { made, folder, run, upstream, kept } = await start(t)
  const [first, second] = ['one', 'two'].map(name => made.publish({ name }))
  assert.ok(first && second)
  await upstream('fetch', '--crate', 'one', 'two')
  writeFileSync(join(folder, 'Cargo.lock'), locked(first))
  const asked = await run('upstream', 'prune', '--keep-lock', 'Cargo.lock')
  assert.equal(asked.code, 1)
  assert.match(asked.stdout, /^would remove 1 file \(.*\), 1 stay$/m)
  const crates = () => kept().filter(path => path.endsWith('.crate'))
  assert.equal(crates().length, 2)
  await upstream('prune', '--keep-lock', 'Cargo.lock', '--yes')
  assert.deepEqual(crates(), ['crates/one-1.0.0-….crate'])
  await upstream('prune', '--older-than', '1d', '--yes')
  assert.equal(crates().length, 1)
  assert.equal((await run('upstream', 'prune')).code, 2)
})

test('without an upstream, or with another name, the command says so', async t => {
  const { run } = await start(t)
  const named = await run('upstream', 'explain', 'x', '--upstream', 'down')
  assert.deepEqual(
    [named.code, named.stderr],
    [2, 'error: there is no upstream `down`; the upstreams are up\n'],
  )
  const env = { PLIMSOLL_UPSTREAM_UP_INDEX: undefined }
  const folder = folderOf(t)
  await plimsollHere(['init', '--dir', folder], env)
  const none = await plimsollHere(['upstream', 'explain', 'x', '--dir', folder], env)
  assert.match(none.stderr, /has no upstream; add a section such as \[upstream\.crates-io\]/)
})

test('build renders the tree again, deploy brings it along, verify reads it, status tells alarms', async t => {
  const { made, folder, ok, run, upstream } = await start(t)
  const line = made.publish({ name: 'demo' })
  await upstream('fetch', '--crate', 'demo')
  await ok('build')
  assert.match(await ok('build'), /^rendered 1 crate of the upstream up$/m)
  const dry = await ok('deploy', '--to', 'site', '--dry-run')
  assert.match(dry, /^3 files of the upstream up to upload, 0 files to remove, 0 files unchanged$/m)
  await ok('deploy', '--to', 'site')
  const again = await ok('deploy', '--to', 'site', '--delete')
  assert.match(again, /^0 files of the upstream up uploaded, 0 files removed, 3 files unchanged$/m)
  assert.doesNotMatch(again, /left alone/)
  const site = join(folder, 'site', 'upstream', 'up')
  assert.deepEqual(
    filesBelow(site)
      .map(path => path.replace(/-[0-9a-f]{64}/, ''))
      .sort(),
    ['crates/demo-1.0.0.crate', 'index/config.json', 'index/de/mo/demo'],
  )
  assert.equal(readFileSync(join(site, 'index/de/mo/demo'), 'utf8'), `${line}\n`)
  assert.match(await ok('verify'), /everything agrees/)
  const kept = join(folder, 'registry', 'upstream', 'up')
  const crate = filesBelow(kept).find(path => path.endsWith('.crate')) ?? assert.fail()
  chmodSync(join(kept, crate), 0o600)
  writeFileSync(join(kept, crate), 'other')
  for (const broken of ['{', '{}\n']) {
    writeFileSync(join(kept, 'lines/de/mo/demo'), broken)
    const differs = await run('verify')
    assert.equal(differs.code, 1)
    assert.match(differs.stdout, /crate: has other bytes than its name says$/m)
    assert.match(differs.stdout, /lines\/de\/mo\/demo: cannot be read$/m)
  }
  await ok('verify', '--repair')
  assert.match(await ok('verify'), /everything agrees/)
  // What an earlier version or a hand has put there.
  const strange = buildCrate({ name: 'other', version: '2.0.0' })
  const unusable = `crates/demo-2.0.0-${sha256(strange)}.crate`
  writeCrate(join(kept, unusable), strange)
  const long = `crates/demo-3.0.0-${'0'.repeat(64)}.crate`
  writeFileSync(join(kept, long), '')
  truncateSync(join(kept, long), 1024 ** 4)
  mkdirSync(join(kept, 'lines/lo/ng'), { recursive: true })
  writeFileSync(join(kept, 'lines/lo/ng/long'), '')
  truncateSync(join(kept, 'lines/lo/ng/long'), 1024 ** 4)
  const { code, stdout } = await run('verify')
  assert.equal(code, 1)
  assert.ok(stdout.includes(`${unusable}: no Cargo can use it: `), stdout)
  assert.ok(stdout.includes(`${long}: has other bytes than its name says`), stdout)
  assert.ok(stdout.includes('lines/lo/ng/long: cannot be read'), stdout)
  await ok('verify', '--repair')
  assert.match(await ok('verify'), /everything agrees/)
  await upstream('explain', 'demo')
  made.edit('demo', () => [line.replace('"features":{}', '"features":{"x":[]}')])
  await upstream('explain', 'demo')
  const { upstream: told } = JSON.parse(await ok('status', '--json'))
  assert.deepEqual(
    told.alarms.map(({ at, ...rest }: { at: string }) => rest),
    [{ upstream: 'up', kind: 'line', crate: 'demo', version: '1.0.0' }],
  )
  assert.match(await ok('status'), /^alarm {5}\S+ demo@1\.0\.0 of up has another index line/m)
})
