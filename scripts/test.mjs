// `npm test` runs every suite but the slow ones, on a fresh clone too; `npm run test:all` runs these;
// `npm test -- name conformance/` runs files whose path contains a word, slow or not; `npm run
// test:unit` runs files for the inner loop, which start no process.
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { environment as postgres } from './postgres.mjs'
import { prepare, root } from './prepare.mjs'
import { modules, OURS, PROCESS, startsProcess, textOf } from './test-modules.mjs'
import { LONG, processesFor } from './test-order.mjs'
import { program as versitygw } from './versitygw.mjs'

/** Seconds of both whole runs on a quiet machine with two processors. */
const SECONDS_ON_TWO = { quick: 240, slow: 480 }

const BROWSERS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
]

/** After this many milliseconds a test counts as hanging: 15 minutes. */
const TIMEOUT_MS = 15 * 60_000

/** The folders of unit tests. */
const UNIT = /^dist[\\/]test[\\/](?:core|site|generator|daemon)[\\/]/
/** Suites for `npm run test:all`. */
const SLOW = /\.slow\.test\.js$/

/** Modules of the program that read `dist/assets`. */
const OF_PAGES = /[\\/]layout[\\/]assets\.js$|[\\/]static[\\/]cache\.js$/

/** Bytes that the folders of all tests may need at a time, with room to spare: 4 GiB. */
const MEMORY = 4 * 1024 ** 3

const OPTIONS = ['--unit', '--slow']
const [isUnit, isSlow] = OPTIONS.map(option => process.argv.includes(option))
const words = process.argv.slice(2).filter(word => !OPTIONS.includes(word))
const whole = isSlow ? 'slow' : 'quick'
/** The chosen files, once all are compiled. */
let chosen = []
await prepare(name => {
  if (chosen.length === 0) chosen = choose()
  return words.length === 0 || reads(name)
})
const missing = whatIsMissing()
const suite = chosen.filter(name => !missing.some(({ of }) => of?.test(name)))
const TOOK = join(root, 'dist', `.test-seconds-${whole}`)
/** The last run's milliseconds by file. */
const TIMES = join(root, 'dist', '.test-times.json')
const isWhole = words.length === 0 && !isUnit
if (isWhole) console.error(`${suite.length} ${whole} test files; ${expectation()}`)
for (const { what, of, without, install } of missing)
  if (isWhole || chosen.some(name => of?.test(name)))
    console.error(`${without} will not run, there is no ${what}: ${install}`)
const lost = words.filter(word => !chosen.some(name => name.includes(word)))
if (lost.length > 0 || suite.length === 0) {
  console.error(`no test file matches ${(lost.length > 0 ? lost : words).join(', ')}`)
  process.exit(2)
}
if (process.env.PLIMSOLL_TEST_S3 === 'versitygw' && !existsSync(versitygw)) {
  console.error('there is no versitygw on this machine: npm run setup:s3')
  process.exit(2)
}
const cargos = otherCargos()
Object.assign(process.env, postgres)
const scratch = mkdtempSync(join(folderOfFolders(), 'plimsoll-tests-'))
// PostgreSQL's server runs as another user than root.
chmodSync(scratch, 0o755)
process.env.TMPDIR = scratch
// Builds without `--cache` leave a file there for each folder.
process.env.XDG_CACHE_HOME = join(scratch, 'cache')
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
const server = process.env.PLIMSOLL_TEST_DATABASE === 'postgres' ? await testServer() : null
const child = spawn(
  process.execPath,
  [
    '--enable-source-maps',
    ...['processor-time.mjs', 'test-hook.mjs'].map(
      name => `--import=${pathToFileURL(join(root, 'scripts', name))}`,
    ),
    join(root, 'scripts', 'test-files.mjs'),
    // Much of a test is waiting for cargo, browsers and disks.
    String(availableParallelism() + 2),
    String(TIMEOUT_MS),
    TIMES,
    ...processesFor(suite, TIMES),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(server && { PLIMSOLL_TEST_SERVER: server.url('DATABASE') }),
      ...(process.env.PLIMSOLL_TEST_S3 === 'versitygw' && { PLIMSOLL_TEST_S3_PROGRAM: versitygw }),
    },
  },
)
const began = Date.now()
child.on('exit', async code => {
  await server?.close()
  if (isWhole) writeFileSync(TOOK, String(Math.round((Date.now() - began) / 1000)))
  const codes = cargos.map(PLIMSOLL_CARGO => {
    const again = { stdio: 'inherit', env: { ...process.env, PLIMSOLL_CARGO } }
    return spawnSync(process.execPath, process.argv.slice(1), again).status ?? 1
  })
  process.exit([code ?? 1, ...codes].find(each => each !== 0) ?? 0)
})

/** With PLIMSOLL_CONFORMANCE=full, Debian's two Cargos follow (test/conformance/debian-cargo.sh). */
function otherCargos() {
  if (process.env.PLIMSOLL_CONFORMANCE !== 'full' || process.env.PLIMSOLL_CARGO) return []
  const clients = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plimsoll')
  const paths = ['cargo', 'cargo-web'].map(name => join(clients, name, 'bin', 'cargo'))
  return paths.filter(path => existsSync(path))
}

/** Where tests make their folders: in memory if that is possible, which halves their time. */
function folderOfFolders() {
  const memory = '/dev/shm'
  if (process.env.TMPDIR || !existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > MEMORY ? memory : tmpdir()
}

/** Starts the PostgreSQL server for the records of the tests. */
async function testServer() {
  const { startTemplate } = await import('../dist/test/support/engine.js')
  return startTemplate()
}

/** Returns the files for the words or the options. */
function choose() {
  return ['test', 'sample-app']
    .flatMap(folder =>
      readdirSync(join(root, 'dist', folder), { recursive: true }).map(name =>
        join('dist', folder, String(name)),
      ),
    )
    .filter(name => name.endsWith('.test.js'))
    .filter(name => {
      if (words.length > 0) return words.some(word => name.includes(word))
      return isUnit ? isQuick(name) : SLOW.test(name) === isSlow
    })
    .sort()
}

/**
 * Whether a chosen file may read a bundle of dist: one that starts processes or names files of dist
 * may read any, pages need their assets. The SDK takes the place of a compiled module.
 */
function reads(bundle) {
  const seen = new Set()
  for (const file of chosen) modules(file, seen)
  return [...seen].some(
    file =>
      bundle === 'sdk' ||
      (bundle === 'assets' && OF_PAGES.test(file)) ||
      (OURS.test(file) &&
        (PROCESS.test(textOf(file)) || /["'](?:dist|program)\b/.test(textOf(file)))),
  )
}

/** Whether a file is for the inner loop: short unit tests without a process. */
function isQuick(file) {
  return UNIT.test(file) && !LONG.test(file) && !startsProcess(file)
}

/** Returns how long a whole run takes, from the one before if there was one. */
function expectation() {
  const other = isSlow ? 'npm test' : 'npm run test:all'
  const rest = `${other} runs the others`
  if (existsSync(TOOK))
    return `the last whole run took ${minutes(readFileSync(TOOK, 'utf8'))} minutes; ${rest}`
  const seconds = (2 * SECONDS_ON_TWO[whole]) / Math.min(availableParallelism(), 4)
  return `this takes about ${minutes(seconds)} minutes on ${availableParallelism()} processors; ${rest}`
}

function minutes(seconds) {
  return Math.max(1, Math.round(Number(seconds) / 60))
}

/**
 * Returns the programs that the machine lacks, and the files or tests that do not run without them.
 * CI must have a browser: its suites run there, and fail without one.
 */
function whatIsMissing() {
  const hasBrowser = process.env.CI || process.env.CHROMIUM || BROWSERS.some(existsSync)
  const hasPostgres = existsSync('/usr/lib/postgresql') || 'TEST_POSTGRES_PROGRAMS' in postgres
  const hasNodegit = existsSync(join(root, 'node_modules', 'nodegit'))
  return [
    !hasBrowser && {
      what: 'Chromium',
      of: /[\\/]browser[\\/]|\.browser\.(?:\w+\.)?test\.js$/,
      without: 'the suites in a browser',
      install: 'apt install chromium, or set CHROMIUM to its path',
    },
    !hasPostgres && {
      what: 'PostgreSQL',
      without: 'the suites with a database server',
      install: 'apt install postgresql, or npm run setup:postgres',
    },
    !hasNodegit && {
      what: 'nodegit',
      without: 'tests of the second git engine',
      install: 'npm run setup:nodegit',
    },
  ].filter(Boolean)
}
