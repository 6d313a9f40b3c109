// `npm run setup:nodegit`: compiles the optional in-process git engine and puts it into
// node_modules, touching nothing else there. PLIMSOLL_NODEGIT_CACHE=DIR keeps the result outside
// the checkout and takes it from there the next time; with `--ahead`, it is only put there.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { prepare, root } from './prepare.mjs'

const isAhead = process.argv.includes('--ahead')
// First, because an `npm ci` of a later start would take nodegit away again.
if (!isAhead) await prepare()
const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).peerDependencies
  .nodegit
const key = `nodegit-${version}-abi${process.versions.modules}-${process.platform}-${process.arch}`
const cached = process.env.PLIMSOLL_NODEGIT_CACHE && join(process.env.PLIMSOLL_NODEGIT_CACHE, key)
const target = isAhead ? cached : join(root, 'node_modules', 'nodegit')
if (!target) throw new Error('--ahead needs the folder of PLIMSOLL_NODEGIT_CACHE')

if (installed(target)) {
  console.log(`nodegit ${version} is installed already`)
} else if (cached && existsSync(cached) && loads(cached)) {
  place(cached, target)
  console.log(`nodegit ${version} restored from ${cached}`)
} else {
  requireTools()
  const stage = mkdtempSync(join(tmpdir(), 'plimsoll-nodegit-'))
  try {
    build(stage)
    assemble(stage)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
  if (cached && !isAhead) place(target, cached)
  console.log(`nodegit ${version} is installed`)
}

function installed(folder) {
  const manifest = join(folder, 'package.json')
  return (
    existsSync(manifest) &&
    JSON.parse(readFileSync(manifest, 'utf8')).version === version &&
    loads(folder)
  )
}

/**
 * Tried in another process: a build for another Node or another libc may take the whole process
 * down.
 */
function loads(folder) {
  return (
    spawnSync(process.execPath, ['-e', 'require(process.argv[1])', folder], { stdio: 'ignore' })
      .status === 0
  )
}

function place(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  const fresh = `${to}.new-${process.pid}`
  cpSync(from, fresh, { recursive: true, verbatimSymlinks: true })
  rmSync(to, { recursive: true, force: true })
  renameSync(fresh, to)
}

/** nodegit compiles for minutes before it notices missing tools. */
function requireTools() {
  if (process.platform !== 'linux') return
  const missing = [
    ['make', runs('make', ['--version'])],
    ['g++', runs('g++', ['--version'])],
    ['python3', runs('python3', ['--version'])],
    ['libkrb5-dev (krb5-config)', runs('krb5-config', ['--version'])],
    [
      'libssl-dev (openssl/ssl.h)',
      runs('g++', ['-E', '-x', 'c++', '-'], '#include <openssl/ssl.h>\n'),
    ],
  ].filter(([, there]) => !there)
  if (missing.length === 0) return
  console.error(
    `nodegit cannot be compiled here; missing: ${missing.map(([name]) => name).join(', ')}.`,
  )
  console.error(
    'On Debian and Ubuntu: apt-get install build-essential python3 libkrb5-dev libssl-dev',
  )
  console.error('Plimsoll works without it: the `git` executable does the same job.')
  process.exit(1)
}

function runs(command, args, input = '') {
  return spawnSync(command, args, { input, stdio: ['pipe', 'ignore', 'ignore'] }).status === 0
}

/**
 * npm takes an optional peer for installed when it is not, and may prune packages that a lock file
 * does not name; so nodegit is built in a folder of its own. npm 12 asks for `allowScripts` before
 * it runs an install script; older ones ignore it.
 */
function build(stage) {
  console.log(`compiling nodegit ${version}; this takes some minutes …`)
  writeFileSync(
    join(stage, 'package.json'),
    JSON.stringify({ private: true, allowScripts: { nodegit: true } }),
  )
  const log = join(stage, 'build.log')
  const result = spawnSync(
    'npm',
    [
      'install',
      '--foreground-scripts',
      '--ignore-scripts=false',
      '--no-audit',
      '--no-fund',
      `nodegit@${version}`,
    ],
    {
      cwd: stage,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      shell: process.platform === 'win32',
      env: { ...ownHeaders(), ...process.env },
    },
  )
  writeFileSync(log, `${result.stdout}${result.stderr}`)
  if (result.status === 0 && loads(join(stage, 'node_modules', 'nodegit'))) return
  const kept = join(tmpdir(), `plimsoll-nodegit-${process.pid}.log`)
  cpSync(log, kept)
  console.error(`nodegit ${version} did not compile; npm's output is in ${kept} and ends with:`)
  console.error(`${result.stdout}${result.stderr}`.trim().split('\n').slice(-15).join('\n'))
  rmSync(stage, { recursive: true, force: true })
  process.exit(1)
}

/**
 * With this Node's own headers beside it, node-gyp need not download them, which it cannot do
 * everywhere.
 */
function ownHeaders() {
  const prefix = dirname(dirname(process.execPath))
  const header = join(prefix, 'include', 'node', 'node_version.h')
  if (!existsSync(header)) return {}
  const text = readFileSync(header, 'utf8')
  const part = name => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1]
  const isOurs = `${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}` === process.versions.node
  return isOurs ? { npm_config_nodedir: prefix } : {}
}

/**
 * The needed part of 100 MB: the library, the addon, and the packages they load, nested so that no
 * other package changes.
 */
function assemble(stage) {
  const modules = join(stage, 'node_modules')
  const whole = join(modules, 'nodegit')
  const slim = join(stage, 'nodegit')
  mkdirSync(join(slim, 'build', 'Release'), { recursive: true })
  for (const part of ['package.json', 'LICENSE', 'lib', join('build', 'Release', 'nodegit.node')])
    cpSync(join(whole, part), join(slim, part), { recursive: true })
  const wanted = ['fs-extra', 'lodash']
  for (const name of wanted) {
    const nested = join(whole, 'node_modules', name)
    const from = existsSync(nested) ? nested : join(modules, name)
    cpSync(from, join(slim, 'node_modules', name), { recursive: true })
    const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
    for (const next of Object.keys(dependencies)) if (!wanted.includes(next)) wanted.push(next)
  }
  if (!loads(slim))
    throw new Error('nodegit works where npm put it, but not without the packages around it')
  place(slim, target)
}
