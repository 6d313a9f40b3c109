// Mirrors daemon/program.ts: what a command loads
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { loadCommands, table } from '../../../daemon/program.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { plimsoll, root, serve } from '../../support/plimsoll.ts'
import { scratch } from '../../support/scratch.ts'
import { writeCrate } from '../../support/write-crate.ts'

/** What is loaded with a compiled file before it runs: files of `dist`, and packages by name. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  const path = join(root, 'dist', file)
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(
    /^(?:import\s*|(?:import|export)\b[^'"();]*\bfrom\s*)['"]([^'"]+)['"]/gm,
  )) {
    if (target.startsWith('.'))
      loadedWith(relative(join(root, 'dist'), join(dirname(path), target)), seen)
    else seen.add(target)
  }
  return seen
}

test('a command is loaded with what it needs and nothing else', () => {
  const isPackage = (file: string) => !file.endsWith('.js') && !file.startsWith('node:')
  const packages = [...loadedWith(join('daemon', 'cli.js'))].filter(isPackage)
  assert.deepEqual(packages, ['commander'])
  const status = [...loadedWith(join('generator', 'cli', 'status.js'))]
  assert.ok(status.includes('libsql'), status.join(' '))
  // Of the site only what words, addresses and facts are; no view.
  const heavy =
    /^(?:hono|highlight\.js|markdown-it|parse5|pino|prom-client|site\/(?:index|layout|markup|assets|highlight))\b/
  for (const file of status) assert.doesNotMatch(file, heavy)
})

test('a word that is no command loads all, so that the help has all of them', async () => {
  const all = await loadCommands(undefined)
  assert.equal(all.length, Object.keys(table).length)
  assert.equal((await loadCommands('statsu')).length, all.length)
  assert.equal((await loadCommands('toString')).length, all.length)
  assert.equal((await loadCommands('status')).length, 1)
  const help = await plimsoll(root, ['--help'])
  assert.equal(help.code, 0)
  const shown = Object.keys(table).filter(word => word !== 'complete-words')
  for (const word of shown) assert.match(help.stdout, new RegExp(`^  ${word} `, 'm'))
  assert.match((await plimsoll(root, ['statsu'])).stderr, /Did you mean status\?/)
})

test('the built program says which Node it needs, and -v is -V', async () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
    engines: { node: string }
  }
  const needed = manifest.engines.node.replace('>=', '')
  const versionOn = (node: string) => plimsoll(root, ['-v'], {}, '', asNode(node))
  for (const old of ['18.20.8', '20.18.3', '9.0.0'])
    assert.deepEqual(await versionOn(old), {
      code: 2,
      stdout: '',
      stderr: `error: Plimsoll needs Node ${needed} or newer, and this is ${old}; install a newer Node and run it again\n`,
    })
  const commit = readFileSync(join(root, 'dist', 'commit'), 'utf8').trim()
  assert.match(commit, /^(?:[0-9a-f]{40}(?:-dirty)?|unknown)$/)
  const said = (node: string) => `${manifest.version} (commit ${commit}; checkout, Node ${node})\n`
  for (const good of [`${needed}.0`, '22.1.0', '100.0.0'])
    assert.deepEqual(await versionOn(good), { code: 0, stdout: said(good), stderr: '' })
  assert.equal((await plimsoll(root, ['-V'])).stdout, said(process.versions.node))
})

test('Node keeps the compiled program in the cache of the user if it can, and starts if not', async t => {
  const cache = scratch(new Cleanup(t))
  for (const place of [cache, '/dev/null', '']) {
    const { code, stderr } = await plimsoll(root, ['-V'], { XDG_CACHE_HOME: place, HOME: place })
    assert.deepEqual([code, stderr], [0, ''], place)
  }
  const isKept = 'enableCompileCache' in nodeModule
  assert.equal(existsSync(join(cache, 'plimsoll', 'code')), isKept)
})

test('a daemon on Node 20 says once that this Node is past its end; on Node 24 it does not', async t => {
  const dir = scratch(new Cleanup(t))
  assert.equal((await plimsoll(root, ['init', '--dir', dir])).code, 0)
  for (const [node = '', times] of [
    ['20.19.0', 1],
    ['24.18.0', 0],
  ] as const)
    await t.test(node, async inner => {
      const which = asNode(node)
      const log = join(dir, node)
      const daemon = await serve(new Cleanup(inner), dir, {}, log, '127.0.0.1:0', which)
      const said = `Node ${node} has had no security updates since 30 April 2026; install Node 24`
      assert.equal(daemon.log().split(said).length - 1, times, daemon.log())
    })
})

/** The program on a Node that says it is of this version, as arguments of `node`. */
function asNode(version: string): string[] {
  const other = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const program = join(root, 'dist', 'program', 'cli.js')
  return ['--import', `data:text/javascript,${encodeURIComponent(other)}`, program]
}

/** `plimsoll` where Node's module `os` is changed by this code. */
function withOs(code: string): readonly string[] {
  const hook = `import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module'
    ${code}; syncBuiltinESMExports()`
  const url = `data:text/javascript,${encodeURIComponent(hook)}`
  return ['--import', url, join(root, 'dist', 'program', 'cli.js')]
}

/** That of a user without an account, whose home folder the system does not know. */
const HOMELESS = withOs(
  `os.homedir = () => process.env.HOME ?? (() => { throw new Error('uv_os_homedir') })()`,
)

test('what libraries do not like about the environment is told in one sentence', async t => {
  const folder = scratch(new Cleanup(t))
  const crate = writeCrate(join(folder, 'in', 'demo-1.0.0.crate'), {
    name: 'demo',
    version: '1.0.0',
  })
  const url = ['--base-url', 'https://crates.example']
  const nobody = { HOME: undefined, XDG_CACHE_HOME: undefined }
  const build = ['build', '--from', 'in', '--out', 'out', ...url]
  assert.equal((await plimsoll(folder, build, nobody, '', HOMELESS)).code, 0)
  const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
  const none = { AWS_ACCESS_KEY_ID: undefined, AWS_EC2_METADATA_DISABLED: 'true', AWS_REGION: 'r' }
  const told: readonly (readonly [NodeJS.ProcessEnv, RegExp])[] = [
    [none, /there are no keys for the object storage/],
    [{ ...none, AWS_REGION: undefined, AWS_DEFAULTS_MODE: 'none' }, /there are no keys/],
    [{ ...keys, AWS_REGION: 'a b' }, /^error: no request to .+ can be made \(Region not accepted/],
    [{ ...none, AWS_CONTAINER_CREDENTIALS_FULL_URI: 'x' }, /can be made \(Invalid URL\)/],
    [
      { ...keys, AWS_SECRET_ACCESS_KEY: '\n', AWS_SESSION_TOKEN: '\n' },
      /Invalid character in header/,
    ],
  ]
  const endpoint = ['--set', 'storage.endpoint=http://127.0.0.1:9']
  const push = ['push', crate, '--to', 's3://bucket/x', ...url, ...endpoint]
  for (const [env, sentence] of told) {
    const run = await plimsoll(folder, push, { ...nobody, ...env }, '', HOMELESS)
    assert.match(run.stderr, sentence)
    assert.deepEqual([run.code, run.stderr.trim().split('\n').length], [1, 1], run.stderr)
  }
  const away = await plimsoll(folder, ['check', 'http://127.0.0.1:9/'], { TMPDIR: '/none' })
  assert.match(away.stderr, /^error: the operating system reports an error: ENOENT.+mkdtemp/)
})

test('a fault nobody thought of is one sentence, and its stack is there for whoever asks', async t => {
  const folder = scratch(new Cleanup(t))
  const broken = withOs(`os.homedir = () => { throw new TypeError('out of tune') }`)
  writeCrate(join(folder, 'in', 'demo-1.0.0.crate'), { name: 'demo', version: '1.0.0' })
  const build = ['build', '--from', 'in', '--out', 'out', '--base-url', 'https://crates.example']
  const said = await plimsoll(folder, build, { XDG_CACHE_HOME: '' }, '', broken)
  assert.match(said.stderr, /^error: something failed .+ \(out of tune\); please report .+\n$/)
  assert.equal(said.code, 1)
  const asked = await plimsoll(
    folder,
    build,
    { XDG_CACHE_HOME: '', NODE_DEBUG: 'plimsoll' },
    '',
    broken,
  )
  assert.match(asked.stderr, /TypeError: out of tune\n +at /)
})
