// Installs and compiles what changed since the last time; plain JavaScript, because it runs before
// anything is installed.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transpile } from './transpile.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const SOURCES = ['core', 'generator', 'daemon', 'site', 'check', 'sample-app', 'test']

/** The scripts that bundle parts of dist. The program has the SDK in it. */
const BUNDLES = ['sdk', 'assets', 'program']

/** Replaces the path of a file of a package by that of its manifest. */
const MANIFEST = [/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/.*/, '$1/package.json']

/** The code for Node and the code for browsers: each sees only the globals of its own world. */
const PROJECTS = ['tsconfig.json', 'site/browser/tsconfig.json', 'test/browser/tsconfig.json']

/**
 * Makes `node_modules` and `dist` match the checkout; announces long steps on stderr, exits with
 * the tool's own error. Once all is compiled, `needs` says of a bundle whether anybody reads it now.
 */
export async function prepare(needs = _name => true) {
  requireNode()
  if (!isInstalled()) {
    console.error('installing dependencies …')
    run('npm', ['ci', '--no-audit', '--no-fund'], 'npm ci failed; can npm reach its registry?')
  }
  const dist = join(root, 'dist')
  mkdirSync(dist, { recursive: true })
  const commit = commitOf()
  const sources = SOURCES.flatMap(folder => files(folder, /(?<!\.d)\.ts$/))
  const changed = await transpile(root, sources, dist)
  if (changed.length > 50) console.error('compiling …')
  for (const name of BUNDLES) if (needs(name) && !isCurrent(name)) bundle(name)
  writeFileSync(join(dist, 'commit'), `${await commit}\n`)
  linkProgram()
}

/** Checks all types; with `declarations`, writes the package's to dist. */
export function checkTypes({ declarations = false } = {}) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  for (const project of PROJECTS) {
    const isPackage = declarations && project === 'tsconfig.json'
    const emit = isPackage ? '--emitDeclarationOnly' : '--noEmit'
    const args = [tsc, '--project', join(root, project), emit]
    run(process.execPath, args, 'the sources have errors in their types.')
  }
}

/** The commit of an archive of git, or of a checkout; `-dirty` if files differ from it. */
async function commitOf() {
  const archived = readFileSync(join(root, 'scripts', 'commit.txt'), 'utf8').trim()
  if (/^[0-9a-f]+$/.test(archived)) return archived
  if (!existsSync(join(root, '.git'))) return 'unknown'
  const args = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  const git = spawn('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  const [said, ended] = await Promise.all([text(git.stdout), once(git, 'close').catch(() => [1])])
  return ended[0] === 0 ? said.trim() : 'unknown'
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(
    `Plimsoll needs Node 20.19 or newer; this is ${process.versions.node}. Install a newer Node and run again.`,
  )
  process.exit(2)
}

/**
 * For a script that bundles: notes the inputs that esbuild names, and `more`, as what
 * `dist/.NAME.json` was made from. Of a package its manifest stands there: the lock file fixes the rest.
 */
export function note(name, metafiles, more = []) {
  const own = ['package.json', 'package-lock.json', join('scripts', `${name}.mjs`)]
  const read = metafiles.flatMap(({ inputs }) => Object.keys(inputs)).map(path => resolve(path))
  const paths = [...own, ...more, ...read.map(path => relative(root, path).replace(...MANIFEST))]
  const sums = [...new Set(paths)].map(path => [path, checksum(path)])
  writeFileSync(join(root, 'dist', `.${name}.json`), JSON.stringify(Object.fromEntries(sums)))
}

/** Whether every file that a bundle was made from is as it was then. */
function isCurrent(name) {
  const file = join(root, 'dist', `.${name}.json`)
  if (!existsSync(file)) return false
  const noted = Object.entries(JSON.parse(readFileSync(file, 'utf8')))
  return noted.every(([path, before]) => before === checksum(path))
}

function checksum(path) {
  const file = join(root, path)
  return existsSync(file) && createHash('sha256').update(readFileSync(file)).digest('hex')
}

function bundle(name) {
  const script = join(root, 'scripts', `${name}.mjs`)
  run(process.execPath, [script], `the ${name} of dist cannot be bundled.`)
}

/** Whether npm has noted that it installed the lock file's packages, `npm ci` by hand included. */
function isInstalled() {
  const noted = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(noted)) return false
  const [wanted, present] = [join(root, 'package-lock.json'), noted].map(
    file => JSON.parse(readFileSync(file, 'utf8')).packages,
  )
  return Object.entries(wanted).every(
    ([path, { integrity, optional, peer }]) =>
      path === '' || optional || peer || present[path]?.integrity === integrity,
  )
}

/** With this link `npx plimsoll` runs the program without first installing the checkout in a cache. */
function linkProgram() {
  const link = join(root, 'node_modules', '.bin', 'plimsoll')
  // On Windows npm uses shims instead of links.
  if (process.platform === 'win32' || existsSync(link)) return
  rmSync(link, { force: true })
  symlinkSync(join('..', '..', 'dist', 'program', 'cli.js'), link)
}

function run(command, args, complaint) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (result.status !== 0) {
    console.error(complaint)
    process.exit(result.status ?? 1)
  }
}

/** Returns the paths, below the root, of files in a folder with matching names. */
function files(folder, name) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && name.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await prepare()
  if (process.argv.includes('--types')) checkTypes({ declarations: true })
}
