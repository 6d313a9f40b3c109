// Runs every suite on a fresh clone: `npm test`, or `npm test -- name conformance/` for the files whose path contains a word.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

/** No test may hang for ever, whatever it waits for: 15 minutes, in milliseconds. */
const PATIENCE = 15 * 60_000

prepare()
const words = process.argv.slice(2)
const chosen = readdirSync(join(root, 'dist', 'test'), { recursive: true })
  .map(name => join('dist', 'test', String(name)))
  .filter(
    name =>
      name.endsWith('.test.js') && (words.length === 0 || words.some(word => name.includes(word))),
  )
  .sort()
const suite = hasBrowser()
  ? chosen
  : chosen.filter(name => !/[\\/]browser[\\/]|\.browser\.test\.js$/.test(name))
for (const name of chosen)
  if (!suite.includes(name)) console.error(`not run, there is no Chromium: ${name}`)
if (suite.length < chosen.length)
  console.error('install it (Debian: apt install chromium) or set CHROMIUM to its path')
if (suite.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`)
  process.exit(2)
}
const child = spawn(
  process.execPath,
  [
    '--enable-source-maps',
    '--test',
    '--test-reporter=spec',
    `--test-timeout=${PATIENCE}`,
    // Much of a test is waiting for cargo and for disks; by itself Node leaves one processor idle.
    `--test-concurrency=${availableParallelism()}`,
    ...suite,
  ],
  {
    cwd: root,
    stdio: 'inherit',
  },
)
child.on('exit', code => process.exit(code ?? 1))

/** CI has to have one: there the browser suites run, and fail where it is missing. */
function hasBrowser() {
  const places = [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/snap/bin/chromium',
  ]
  return Boolean(process.env.CI || process.env.CHROMIUM) || places.some(path => existsSync(path))
}
