// Runs every suite on a fresh clone: `npm test`, or `npm test -- name conformance/` for the files whose path contains a word.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

/** No test may hang for ever, whatever it waits for: 15 minutes, in milliseconds. */
const PATIENCE = 15 * 60_000

prepare()
const words = process.argv.slice(2)
const suite = readdirSync(join(root, 'dist', 'test'), { recursive: true })
  .map(name => join('dist', 'test', String(name)))
  .filter(name => name.endsWith('.test.js') && (words.length === 0 || words.some(word => name.includes(word))))
  .sort()
if (suite.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`)
  process.exit(2)
}
const child = spawn(
  process.execPath,
  ['--enable-source-maps', '--test', '--test-reporter=spec', `--test-timeout=${PATIENCE}`, ...suite],
  {
    cwd: root,
    stdio: 'inherit',
  },
)
child.on('exit', code => process.exit(code ?? 1))
