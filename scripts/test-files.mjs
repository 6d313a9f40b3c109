// Runs test files in the order in which they are given, several beside each other, and notes how
// long the tests of each took: `node test-files.mjs CONCURRENCY TIMEOUT_MS TIMES FILE…`. The command line of
// Node itself sorts its files by name, so that slow ones may come last.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const [concurrency, timeout, times, ...files] = process.argv.slice(2)
const took = new Map()
const stream = run({ files, concurrency: Number(concurrency), timeout: Number(timeout) })
for (const event of ['test:pass', 'test:fail'])
  stream.on(event, ({ file = '', nesting, details }) => {
    if (event === 'test:fail') process.exitCode = 1
    // Errors and tests know their sources, in whichever checkout these were compiled.
    const [source] = /test[\\/](?!.*[\\/]test[\\/]).*\.test(?=\.[jt]s$)/.exec(file) ?? []
    if (source === undefined || nesting > 0) return
    const compiled = join('dist', `${source}.js`)
    took.set(compiled, (took.get(compiled) ?? 0) + Math.round(details.duration_ms))
  })
stream.on('end', () => {
  const known = existsSync(times) ? JSON.parse(readFileSync(times, 'utf8')) : {}
  writeFileSync(times, JSON.stringify({ ...known, ...Object.fromEntries(took) }))
})
stream.compose(new spec()).pipe(process.stdout)
