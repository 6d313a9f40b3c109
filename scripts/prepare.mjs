// Installs and compiles when something changed since the last time; plain JavaScript, because it
// runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const SOURCES = ['core', 'generator', 'daemon', 'site', 'sample-app', 'test', 'bench', 'chaos']
/** What runs in Node, and what runs in browsers: each sees the globals of its own world only. */
const PROJECTS = ['tsconfig.json', 'site/browser/tsconfig.json', 'test/browser/tsconfig.json'].map(
  file => join(root, file),
)
const TSC = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const BUILT = join(root, 'dist', '.built')

/**
 * Makes `node_modules` and `dist` match the checkout; says on stderr what it does, exits with the
 * tool's own error.
 */
export function prepare({ force = false } = {}) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(
      `Plimsoll needs Node 20.19 or newer; this is ${process.versions.node}. Install a newer Node and run again.`,
    )
    process.exit(2)
  }
  const lock = digest(
    [join(root, 'package.json'), join(root, 'package-lock.json')],
    process.versions.modules,
  )
  if (!isInstalled()) {
    console.error('installing dependencies …')
    run(
      'npm',
      ['ci', '--no-audit', '--no-fund'],
      'npm ci failed; the registry npm is configured for must be reachable.',
    )
  }
  const sources = digest(
    [
      join(root, 'tsconfig.json'),
      join(root, 'scripts', 'assets.mjs'),
      join(root, 'scripts', 'program.mjs'),
      ...SOURCES.flatMap(folder => files(join(root, folder))),
    ],
    lock,
  )
  if (force || !existsSync(BUILT) || readFileSync(BUILT, 'utf8') !== sources) {
    console.error('compiling …')
    rmSync(join(root, 'dist'), { recursive: true, force: true })
    for (const project of PROJECTS)
      run(process.execPath, [TSC, '--project', project], 'the sources do not compile.')
    run(
      process.execPath,
      [join(root, 'scripts', 'assets.mjs')],
      'the scripts and styles of the pages do not build.',
    )
    run(process.execPath, [join(root, 'scripts', 'program.mjs')], 'the program does not bundle.')
    mkdirSync(join(root, 'dist'), { recursive: true })
    writeFileSync(BUILT, sources)
  }
  linkProgram()
}

/** Whether npm has noted that it installed what the lock file says, `npm ci` by hand included. */
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

function files(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true })
    .map(name => join(folder, String(name)))
    .filter(path => statSync(path).isFile())
    .sort()
}

function digest(paths, salt) {
  const hash = createHash('sha256').update(salt)
  for (const path of paths)
    hash
      .update(path.slice(root.length))
      .update('\0')
      .update(existsSync(path) ? readFileSync(path) : '')
      .update('\0')
  return hash.digest('hex')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  prepare({ force: process.argv.includes('--force') })
