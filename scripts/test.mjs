// `npm test` runs every suite, on a fresh clone too; `npm test -- name conformance/` the files
// whose path contains a word; `npm run test:unit` those for the inner loop: they start no process,
// and each takes a few seconds at most.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { environment as postgres } from './postgres.mjs'
import { prepare, root } from './prepare.mjs'
import { program as versitygw } from './versitygw.mjs'

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
  'daemon/accounts/sessions',
  'daemon/api/publish-refused',
  'daemon/api/publish-together',
  'daemon/web/visits',
  'generator/pages/page-files',
  'generator/pages/pages',
  'generator/pages/search',
  'generator/static/static',
  'generator/store/catalog/common-words',
  'site/readme',
  'site/readme-differential',
].map(name => join('dist', 'test', `${name}.test.js`))

prepare()
const isUnit = process.argv.includes('--unit')
const words = process.argv.slice(2).filter(word => word !== '--unit')
const chosen = readdirSync(join(root, 'dist', 'test'), { recursive: true })
  .map(name => join('dist', 'test', String(name)))
  .filter(
    name =>
      name.endsWith('.test.js') &&
      (words.length === 0 || words.some(word => name.includes(word))) &&
      (!isUnit || (UNIT.test(name) && !SLOW.includes(name) && !startsProcess(name))),
  )
  .sort()
const suite = hasBrowser()
  ? chosen
  : chosen.filter(name => !/[\\/]browser[\\/]|\.browser\.test\.js$/.test(name))
for (const name of chosen)
  if (!suite.includes(name)) console.error(`not run, there is no Chromium: ${name}`)
if (suite.length < chosen.length)
  console.error('install it (Debian: apt install chromium) or set CHROMIUM to its path')
for (const name of isUnit ? SLOW : [])
  if (!existsSync(join(root, name)))
    console.error(`${name} is gone; correct SLOW in scripts/test.mjs`)
if (suite.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`)
  process.exit(2)
}
if (process.env.PLIMSOLL_TEST_S3 === 'versitygw' && !existsSync(versitygw)) {
  console.error('there is no versitygw on this machine: npm run setup:s3')
  process.exit(2)
}
Object.assign(process.env, postgres)
const server = process.env.PLIMSOLL_TEST_DATABASE === 'postgres' ? await testServer() : null
const child = spawn(
  process.execPath,
  [
    '--enable-source-maps',
    '--test',
    '--test-reporter=spec',
    `--test-timeout=${TIMEOUT_MS}`,
    // Much of a test is waiting for cargo, browsers and disks; by itself Node leaves one processor
    // idle.
    `--test-concurrency=${availableParallelism() + 1}`,
    ...suite,
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
child.on('exit', async code => {
  await server?.close()
  process.exit(code ?? 1)
})

/** Starts the PostgreSQL server for the catalogs of the tests. */
async function testServer() {
  const { startTemplate } = await import('../dist/test/support/engine.js')
  return startTemplate()
}

/**
 * Whether a test, or what it imports of the tests, starts a process: a command, git, Cargo, a
 * browser.
 */
function startsProcess(file, seen = new Set()) {
  if (seen.has(file)) return false
  seen.add(file)
  const text = readFileSync(join(root, file), 'utf8')
  if (/'(?:node:child_process|playwright-core)'/.test(text)) return true
  return [...text.matchAll(/from '(\.[^']+\.js)'/g)]
    .map(match => normalize(join(dirname(file), match[1])))
    .some(path => path.startsWith(join('dist', 'test')) && startsProcess(path, seen))
}

/** CI has to have one: there the browser suites run, and fail where it is missing. */
function hasBrowser() {
  const places = [
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/snap/bin/chromium',
  ]
  return Boolean(process.env.CI || process.env.CHROMIUM) || places.some(path => existsSync(path))
}
