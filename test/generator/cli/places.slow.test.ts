// Mirrors generator/cli/console/command.ts and core/paths/bucket.ts: where commands find their settings,
// and which places they take
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import type { Run } from '../../support/command.ts'
import { sumsBelow } from '../../support/folder.ts'
import { plimsoll } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { refuses } from '../../support/served-folder.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const BASE = 'https://crates.example'

/** A folder with `crates/demo.crate`, a provider of objects, and settings that lead to it. */
async function start(t: TestContext) {
  const folder = folderOf(t)
  const s3 = await startS3(new Cleanup(t))
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = s3.env({})
  const keys = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }
  for (const name of ['crates', 'plain', 'registry'])
    writeCrate(join(folder, name, 'demo.crate'), { name: 'demo', version: '1.0.0' })
  const put = (dir: string) =>
    writeFileSync(
      join(folder, dir, 'plimsoll.toml'),
      `[registry]\nbase_url = "${BASE}"\n[storage]\nendpoint = "${s3.url}"\nregion = "eu-test-1"\n`,
    )
  const words = (args: string) => args.split(' ').map(arg => arg.replace(/^\.\//, `${folder}/`))
  const call = (args: string, env: NodeJS.ProcessEnv = {}) =>
    plimsollHere(words(args), { ...keys, ...env })
  /** In a process of its own, which has the folder as its current one. */
  const callThere = (args: string) => plimsoll(folder, words(args), keys)
  return { folder, s3, put, call, callThere }
}

test('build, push and deploy find their settings in the same way', async t => {
  const { folder, s3, put, call, callThere } = await start(t)
  const ways = [
    ['crates', 'crates', ' --dir ./crates', {}],
    ['crates', 'plain', ' --dir ./crates', {}],
    ['crates', 'plain', '', { PLIMSOLL_DIR: join(folder, 'crates') }],
    ['registry', 'plain', '', null],
  ] as const
  for (const [settings, from, more, env] of ways) {
    put(settings)
    const ok = async (args: string) => {
      const { code, stderr } = await (env ? call(`${args}${more}`, env) : callThere(args))
      assert.equal(code, 0, `${args}${more}: ${stderr}`)
    }
    await ok(`build --from ./${from} --out ./public --no-cache`)
    const config = readFileSync(join(folder, 'public', 'index', 'config.json'), 'utf8')
    assert.ok(config.includes(BASE), config)
    await ok('deploy --from ./public --to s3://test/deployed')
    await ok('push ./plain --to s3://test/pushed')
    for (const place of ['deployed', 'pushed'])
      assert.equal(s3.objects.get(`${place}/index/config.json`)?.bytes.toString(), config)
    s3.objects.clear()
    for (const name of ['public', `${settings}/plimsoll.toml`])
      rmSync(join(folder, name), { recursive: true })
  }
  // What the command line names counts alone, and has to be there.
  put('crates')
  await call('build --from ./crates --out ./public --no-cache --dir ./plain')
  const trial = readFileSync(join(folder, 'public', 'index', 'config.json'), 'utf8')
  assert.ok(!trial.includes(BASE), trial)
  const said = `there is no file or folder ${folder}/nowhere`
  await refuses({ run: ([args]) => call(`${args} --dir ./nowhere`) }, [
    [['build --from ./crates --out ./public'], 2, said],
    [['push ./plain --to s3://test/pushed'], 2, said],
    [['deploy --from ./public --to s3://test/deployed'], 2, said],
  ])
  assert.deepEqual(s3.keys(), [])
})

test('a URL is no folder, and no bucket unless it says s3://', async t => {
  const { folder, put, call, callThere } = await start(t)
  put('crates')
  assert.equal((await call('build --from ./crates --out ./public --no-cache')).code, 0)
  assert.equal((await call('init --dir ./served')).code, 0)
  const before = readdirSync(folder)
  const refused = ({ code, stderr }: Run, words: RegExp) =>
    assert.deepEqual([code, words.test(stderr)], [2, true], `${code} ${stderr}`)
  for (const url of ['http://host/', 'file:///srv/www', 'S3://test/www', 'gs://bucket/www']) {
    const words = new RegExp(`\`${url}\` is neither a folder nor the address of a bucket; write`)
    refused(await call(`push ./plain --to ${url} --base-url ${BASE}`), words)
    refused(await call(`deploy --from ./public --to ${url}`), words)
    refused(await call(`migrate --dir ./served --crates ${url}`), words)
    const crates = await call('status --dir ./served', { PLIMSOLL_STORAGE_CRATES: url })
    refused(crates, /`storage\.crates` cannot be/)
    const tree = await call(`verify --dir ./served --set storage.public=${url}`)
    refused(tree, /`storage\.public` cannot be/)
  }
  for (const args of [
    'init --dir http://host/',
    'serve --init --dir http://host/',
    'restore ./plain/demo.crate --dir http://host/',
    'backup s3://test/backup.tar --dir ./served',
    'build --from ./crates --out s3://test/www',
  ])
    refused(await callThere(args), /it is a URL; name a file or folder here/)
  assert.deepEqual(readdirSync(folder), before)
})

test('a tree that was in another folder for a while is brought up to date', async t => {
  const { folder, ok, put } = await registryFolder(t)
  const www = ['--set', `storage.public=${join(folder, 'www')}`]
  await ok('add', put('a.crate', { name: 'a', version: '1.0.0' }))
  await ok('add', put('b.crate', { name: 'b', version: '1.0.0' }))
  await ok('build', ...www)
  await ok('yank', 'a@1.0.0', ...www)
  await ok('delete', 'b', '--yes', ...www)
  for (const place of [[], www]) {
    await ok('build', ...place)
    assert.match(await ok('verify', ...place), /^everything agrees$/m)
  }
  const [here, there] = ['registry/public', 'www'].map(path => sumsBelow(join(folder, path)))
  assert.deepEqual(here, there)
})

test('paths of settings are relative to the registry folder, wherever they stand', async t => {
  const { dir, folder, run } = await registryFolder(t)
  writeFileSync(
    join(dir, 'plimsoll.toml'),
    '[tls]\ncert = "tls/a.pem"\nkey = "/etc/key.pem"\n[outgoing]\nca_file = "../ca.pem"\n' +
      '[upstream.crates-io]\ntoken_file = "token"\n[cdn]\npurge_headers = "purge"\n',
  )
  const ended = await run('settings', '--json', '--set', 'database.ca_file=db.pem')
  assert.equal(ended.code, 0, ended.stderr)
  const rows: readonly { readonly key: string; readonly value: unknown }[] = JSON.parse(
    ended.stdout,
  )
  const paths = rows.filter(({ key }) => /^tls|_file$|headers$/.test(key))
  assert.deepEqual(Object.fromEntries(paths.map(({ key, value }) => [key, value])), {
    'database.password_file': null,
    'database.ca_file': join(dir, 'db.pem'),
    'cdn.purge_headers': join(dir, 'purge'),
    'tls.cert': join(dir, 'tls', 'a.pem'),
    'tls.key': '/etc/key.pem',
    'outgoing.ca_file': join(folder, 'ca.pem'),
    'upstream.crates-io.token_file': join(dir, 'token'),
  })
})

test('a PLIMSOLL_DIR that is no registry stops no command that needs none', async t => {
  const folder = folderOf(t)
  const at = (name: string) => join(folder, name)
  writeCrate(at('crates/demo.crate'), { name: 'demo', version: '1.0.0' })
  for (const dir of ['nowhere', 'crates']) {
    const out = at(`${dir}-tree`)
    for (const args of [
      ['build', '--from', at('crates'), '--out', out, '--no-cache', '--base-url', BASE],
      ['push', at('crates'), '--to', `${out}-pushed`, '--base-url', BASE],
      ['deploy', '--from', out, '--to', `${out}-deployed`],
    ]) {
      const ended = await plimsollHere(args, { PLIMSOLL_DIR: at(dir) })
      assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.stderr}`)
      assert.match(
        ended.stderr,
        /^settings: no plimsoll\.toml, the environment and the command line$/m,
      )
    }
  }
})
