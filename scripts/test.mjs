// `npm test` runs every suite, on a fresh clone too; `npm test -- name conformance/` runs files
// whose path contains a word; `npm run test:unit` runs files for the inner loop: they start no
// process, and each takes a few seconds at most.
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
import { dirname, join, normalize } from 'node:path'
import { environment as postgres } from './postgres.mjs'
import { prepare, root } from './prepare.mjs'
import { program as versitygw } from './versitygw.mjs'

/** Seconds of a whole run on a quiet machine with two processors. */
const SECONDS_ON_TWO = 600

const BROWSERS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
]

/** After this many milliseconds a test counts as hanging: 15 minutes. */
const TIMEOUT_MS = 15 * 60_000

/**
 * The folders of unit tests, and the files there that each take more than 5 s of processor time.
 */
const UNIT = /^dist[\\/]test[\\/](?:core|site|generator|daemon)[\\/]/
const SLOW = [
  'daemon/access/access',
  'daemon/access/login-limit',
  'daemon/access/withdrawn',
  'generator/accounts/sessions',
  'daemon/api/publish-refused',
  'daemon/api/publish-together',
  'daemon/web/visits',
  'generator/pages/page-files',
  'generator/pages/pages',
  'generator/projections/search/search',
  'generator/static/static',
  'site/readme',
].map(name => join('dist', 'test', `${name}.test.js`))

/** Bytes that the folders of all tests may need at a time, with room to spare: 4 GiB. */
const MEMORY = 4 * 1024 ** 3

/** Number of processes that run short unit tests. */
const GROUPS = 12

await prepare()
const isUnit = process.argv.includes('--unit')
const words = process.argv.slice(2).filter(word => word !== '--unit')
const chosen = ['test', 'sample-app']
  .flatMap(folder =>
    readdirSync(join(root, 'dist', folder), { recursive: true }).map(name =>
      join('dist', folder, String(name)),
    ),
  )
  .filter(
    name =>
      name.endsWith('.test.js') &&
      (words.length === 0 || words.some(word => name.includes(word))) &&
      (!isUnit || isQuick(name)),
  )
  .sort()
const missing = whatIsMissing()
const suite = chosen.filter(name => !missing.some(({ of }) => of?.test(name)))
const TOOK = join(root, 'dist', '.test-seconds')
/** The last run's milliseconds by file. */
const TIMES = join(root, 'dist', '.test-times.json')
const isWhole = words.length === 0 && !isUnit
if (isWhole) console.error(`${suite.length} test files; ${expectation()}`)
for (const { what, of, without, install } of missing)
  if (isWhole || chosen.some(name => of?.test(name)))
    console.error(`${without} will not run, there is no ${what}: ${install}`)
for (const name of isUnit ? SLOW : [])
  if (!existsSync(join(root, name)))
    console.error(`${name} is gone; correct SLOW in scripts/test.mjs`)
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
    join(root, 'scripts', 'test-files.mjs'),
    // Much of a test is waiting for cargo, browsers and disks.
    String(availableParallelism() + 1),
    String(TIMEOUT_MS),
    TIMES,
    ...(suite.length > GROUPS ? grouped(suite) : slowFirst(suite)),
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

/**
 * Whether a test, or a test module it imports, starts a process: a command, git, Cargo, a browser.
 */
function startsProcess(file, seen = new Set()) {
  if (seen.has(file)) return false
  seen.add(file)
  const text = readFileSync(join(root, file), 'utf8')
  if (/["'](?:node:child_process|playwright-core)["']/.test(text)) return true
  return [...text.matchAll(/from ["'](\.[^"']+\.js)["']/g)]
    .map(match => normalize(join(dirname(file), match[1])))
    .some(path => path.startsWith(join('dist', 'test')) && startsProcess(path, seen))
}

/** Whether a file has unit tests that take some seconds at most. */
function isShort(file) {
  return UNIT.test(file) && !SLOW.includes(file)
}

/** Whether a file is for the inner loop: short, and without a process. */
function isQuick(file) {
  return isShort(file) && !startsProcess(file)
}

/** Whether a file replaces what others in its process use: timers, or methods of a class. */
function mocksOthers(file) {
  const mocks = /mock\.timers\.enable\(\{ apis: \[.set|mock\.method\(\w+\.prototype/
  return mocks.test(readFileSync(join(root, file), 'utf8'))
}

/**
 * Deals short files out to a few processes, joined by commas: in a process of its own, most take
 * longer to load than to run.
 */
function grouped(files) {
  const short = files.filter(file => isShort(file) && !mocksOthers(file))
  const groups = short
    .slice(0, GROUPS)
    .map((_, at) => short.filter((_, index) => index % GROUPS === at).join(','))
  return [...slowFirst(files.filter(file => !short.includes(file))), ...groups]
}

/**
 * Slow files first, so that none is left alone at the end: by the last time or, without one, files
 * that start processes.
 */
function slowFirst(files) {
  const times = existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {}
  const cost = file => times[file] ?? (startsProcess(file) ? 30_000 : 1000)
  return files
    .map(file => [cost(file), file])
    .sort(([a], [b]) => b - a)
    .map(([, file]) => file)
}

/** Returns how long a whole run takes, from the one before if there was one. */
function expectation() {
  if (existsSync(TOOK))
    return `the last whole run took ${minutes(readFileSync(TOOK, 'utf8'))} minutes`
  const seconds = (2 * SECONDS_ON_TWO) / Math.min(availableParallelism(), 4)
  return `this takes about ${minutes(seconds)} minutes on ${availableParallelism()} processors`
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
      of: /[\\/]browser[\\/]|\.browser\.test\.js$/,
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
