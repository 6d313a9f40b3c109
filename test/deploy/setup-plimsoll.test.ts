// Mirrors deploy/pages/setup-plimsoll/ and deploy/gitlab/: their steps, one by one
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { FileServer } from '../support/file-server.ts'
import { hostEnvironment, root } from '../support/plimsoll.ts'
import { Runner } from '../support/runner.ts'
import { scratch } from '../support/scratch.ts'

const PAGES = join(root, 'deploy', 'pages')
const VERSION = '1.2.3'
const NAME = `plimsoll-${VERSION}-linux-${process.arch}`
const REGISTRY = 'https://crates.example.com'

/** A host with a release, whose archive has the built program of this checkout in it. */
async function released(t: TestContext) {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const host = join(folder, 'host')
  mkdirSync(join(host, NAME), { recursive: true })
  const program = `exec "${process.execPath}" "${join(root, 'dist', 'program', 'cli.js')}" "$@"`
  writeFileSync(join(host, NAME, 'plimsoll'), `#!/bin/sh\n${program}\n`, { mode: 0o755 })
  const archive = join(host, `${NAME}.tar.gz`)
  execFileSync('tar', ['-czf', archive, '-C', host, NAME])
  const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex')
  writeFileSync(
    join(host, 'SHA256SUMS'),
    `${'0'.repeat(64)}  other.tgz\n${sha256}  ${NAME}.tar.gz\n`,
  )
  const { url: from } = await FileServer.start(cleanup, host)
  return { folder, from, archive, sha256 }
}

test('setup-plimsoll downloads what has the checksum, sets Cargo up, and hides the token', async t => {
  const { folder, from, archive, sha256 } = await released(t)
  let count = 0
  const setUp = async (given: Record<string, string>) => {
    const at = join(folder, `run ${count++}`)
    mkdirSync(at)
    const runner = new Runner(at, {}, {})
    cpSync(join(PAGES, 'setup-plimsoll'), join(runner.workspace, 'action'), { recursive: true })
    const step = { uses: './action', with: { from, version: VERSION, ...given } }
    return { at, runner, code: (await runner.play([step])).code }
  }
  const token = `plim_${'a'.repeat(38)}`
  const { at, runner, code } = await setUp({ registry: REGISTRY, name: 'our-crates', token })
  assert.equal(code, 0, runner.log)
  const version = await run('plimsoll', ['--version'], { cwd: at, env: runner.env })
  assert.equal(version.code, 0)
  assert.equal(runner.env.CARGO_REGISTRIES_OUR_CRATES_TOKEN, token)
  await runner.play([{ run: 'echo "it is $CARGO_REGISTRIES_OUR_CRATES_TOKEN"' }])
  assert.match(runner.log, /^it is \*\*\*$/m)
  assert.equal(runner.log.includes(token), false)
  const block = readFileSync(join(at, '.cargo', 'config.toml'), 'utf8')
  assert.match(
    block,
    /^\[registries\.our-crates\]\nindex = "sparse\+https:\/\/crates\.example\.com\/index\/"$/m,
  )
  assert.match(block, /^global-credential-providers = \["cargo:token"\]$/m)

  const plain = await setUp({ sha256 })
  assert.deepEqual([plain.code, plain.runner.env.GITHUB_ENV], [0, undefined], plain.runner.log)
  const broken = await setUp({ registry: REGISTRY, token: 'a\nPATH=/evil' })
  assert.deepEqual([broken.code, broken.runner.env.PATH === '/evil'], [1, false])
  appendFileSync(archive, 'changed')
  for (const given of [{}, { sha256 }]) {
    const refused = await setUp(given)
    assert.equal(refused.code, 1)
    assert.match(refused.runner.log, /: FAILED$/m)
  }
  assert.equal((await setUp({ version: '9.9.9' })).code, 22, 'there is no such release')
})

test('the workflow for Pages replaces the branch by the registry of the crates in the repository', async t => {
  const { folder, from, sha256 } = await released(t)
  const origin = join(folder, 'origin')
  const git = (...args: string[]) => {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b.invalid']
    return execFileSync('git', [...who, ...args], {
      env: hostEnvironment(),
      cwd: folder,
    }).toString()
  }
  git('init', '-q', '-b', 'main', origin)
  git('-C', origin, 'config', 'receive.denyCurrentBranch', 'ignore')
  const setup = join(origin, '.github', 'actions', 'setup-plimsoll')
  cpSync(join(PAGES, 'setup-plimsoll'), setup, { recursive: true })
  const vars = { PLIMSOLL_FROM: from, PLIMSOLL_VERSION: VERSION, REGISTRY_URL: REGISTRY }
  const github = { actor: 'a', sha: 'abc', run_id: '1' }
  const { jobs } = parse(readFileSync(join(PAGES, 'publish.yml'), 'utf8'))
  const publish = async (crate: string) => {
    mkdirSync(join(origin, 'crates'), { recursive: true })
    const bytes = buildCrate({ name: crate, version: '1.0.0' })
    writeFileSync(join(origin, 'crates', `${crate}-1.0.0.crate`), bytes)
    git('-C', origin, 'add', '.')
    git('-C', origin, 'commit', '-q', '-m', crate)
    const at = join(folder, crate)
    mkdirSync(at)
    const runner: Runner = new Runner(
      at,
      { vars: { ...vars, PLIMSOLL_SHA256: sha256 }, github },
      {
        'actions/checkout': async () => git('clone', '-q', origin, runner.workspace),
        'actions/cache': async () => undefined,
      },
    )
    expectCode('the workflow', await runner.play(jobs.publish.steps), 0)
    return git('-C', origin, 'ls-tree', '-r', '--name-only', 'pages').split('\n')
  }
  const first = await publish('my_crate')
  for (const file of ['index/my/_c/my_crate', '.nojekyll', 'crates/my_crate/my_crate-1.0.0.crate'])
    assert.ok(first.includes(file), file)
  assert.ok(!first.some(file => /^(crates\/my_crate-1|\.github|build-cache)/.test(file)))
  const second = await publish('other')
  for (const file of ['index/my/_c/my_crate', 'index/ot/he/other']) assert.ok(second.includes(file))
  assert.equal(git('-C', origin, 'rev-list', '--count', 'pages').trim(), '1')
})

test('the include for GitLab brings the program, the block and the pages', async t => {
  const { folder, from, archive } = await released(t)
  const jobs = parse(readFileSync(join(root, 'deploy', 'gitlab', 'plimsoll.yml'), 'utf8'))
  assert.equal(jobs['.plimsoll-pages'].extends, '.plimsoll')
  mkdirSync(join(folder, 'crates'))
  const bytes = buildCrate({ name: 'demo', version: '1.0.0' })
  writeFileSync(join(folder, 'crates', 'demo-1.0.0.crate'), bytes)
  const release = { SETUP_PLIMSOLL_FROM: from, SETUP_PLIMSOLL_VERSION: VERSION }
  const places = { HOME: folder, CI_BUILDS_DIR: join(folder, 'builds'), CI_PAGES_URL: REGISTRY }
  const job = (script: readonly string[], more: NodeJS.ProcessEnv) => {
    const lines = [...jobs['.plimsoll'].before_script, ...script]
    const env = { ...hostEnvironment(), ...release, ...places, ...more }
    return run('sh', ['-ec', lines.join('\n')], { cwd: folder, env })
  }
  const registry = { SETUP_PLIMSOLL_REGISTRY: REGISTRY, CARGO_REGISTRIES_PLIMSOLL_TOKEN: 'plim_a' }
  expectCode('a job', await job(['plimsoll --version'], registry), 0)
  const block = readFileSync(join(folder, '.cargo', 'config.toml'), 'utf8')
  assert.match(block, /^index = "sparse\+https:\/\/crates\.example\.com\/index\/"$/m)
  assert.match(block, /^global-credential-providers = \["cargo:token"\]$/m)
  expectCode('pages', await job(jobs['.plimsoll-pages'].script, {}), 0)
  assert.match(readFileSync(join(folder, 'public', 'index', 'de', 'mo', 'demo'), 'utf8'), /1\.0\.0/)
  appendFileSync(archive, 'changed')
  const refused = await job(['true'], {})
  assert.deepEqual([refused.code, /: FAILED$/m.test(refused.stdout)], [1, true])
})
