// Installs and compiles what changed since the last time; plain JavaScript, because it runs before
// anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transpile } from './transpile.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const SOURCES = ['core', 'generator', 'daemon', 'site', 'check', 'sample-app', 'test']

/** The bundled folders, by the script that bundles them. */
const BUNDLES = {
  sdk: [join('generator', 'places', 's3')],
  assets: ['core', 'site'],
  program: ['core', 'site', 'generator', 'check', 'daemon'],
}

/** The code for Node and the code for browsers: each sees only the globals of its own world. */
const PROJECTS = ['tsconfig.json', 'site/browser/tsconfig.json', 'test/browser/tsconfig.json']

/**
 * Makes `node_modules` and `dist` match the checkout; announces long steps on stderr, exits with
 * the tool's own error.
 */
export async function prepare() {
  requireNode()
  if (!isInstalled()) {
    console.error('installing dependencies …')
    run('npm', ['ci', '--no-audit', '--no-fund'], 'npm ci failed; can npm reach its registry?')
  }
  const dist = join(root, 'dist')
  mkdirSync(dist, { recursive: true })
  writeFileSync(join(dist, 'commit'), `${commit()}\n`)
  const sources = SOURCES.flatMap(folder => files(folder, /(?<!\.d)\.ts$/))
  const changed = await transpile(root, sources, dist)
  if (changed.length > 50) console.error('compiling …')
  for (const [name, folders] of Object.entries(BUNDLES)) bundle(name, folders, changed)
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
function commit() {
  const archived = readFileSync(join(root, 'scripts', 'commit.txt'), 'utf8').trim()
  if (/^[0-9a-f]+$/.test(archived)) return archived
  if (!existsSync(join(root, '.git'))) return 'unknown'
  const args = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : 'unknown'
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(
    `Plimsoll needs Node 20.19 or newer; this is ${process.versions.node}. Install a newer Node and run again.`,
  )
  process.exit(2)
}

/** Runs a script that bundles, unless its folders are unchanged, and were not compiled again. */
function bundle(name, folders, compiled) {
  const script = join('scripts', `${name}.mjs`)
  const inputs = [script, 'package-lock.json', ...folders.flatMap(folder => files(folder, /./))]
  const hash = createHash('sha256')
  for (const path of inputs)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  const [sum, noted] = [hash.digest('hex'), join(root, 'dist', `.${name}`)]
  const isNew = compiled.some(path => folders.some(folder => path.startsWith(folder)))
  if (!isNew && existsSync(noted) && readFileSync(noted, 'utf8') === sum) return
  run(process.execPath, [join(root, script)], `the ${name} of dist cannot be bundled.`)
  writeFileSync(noted, sum)
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
