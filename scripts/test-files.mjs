// Runs test files in the order in which they are given, several beside each other, and notes how
// long the tests of each took: `node test-files.mjs CONCURRENCY TIMEOUT_MS TIMES FILE…`. Files that are joined by
// commas share a process. The command line of Node itself sorts its files by name, so that slow ones may come last.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const GROUPS = join('dist', 'test-groups')

const [concurrency, timeout, times, ...given] = process.argv.slice(2)
rmSync(GROUPS, { recursive: true, force: true })
mkdirSync(GROUPS)
const files = given.map((file, at) => (file.includes(',') ? group(file.split(','), at) : file))
const members = given.flatMap(file => file.split(','))
const took = new Map()
const stream = run({ files, concurrency: Number(concurrency), timeout: Number(timeout) })
for (const event of ['test:pass', 'test:fail'])
  stream.on(event, ({ file = '', nesting, details }) => {
    if (event === 'test:fail') process.exitCode = 1
    if (nesting > 0) return
    const compiled = compiledOf(file)
    if (compiled === undefined) return
    took.set(compiled, (took.get(compiled) ?? 0) + Math.round(details.duration_ms))
  })
stream.on('end', () => {
  // Whatever a file awaits before its tests may end its process, in silence, before the next ones.
  const grouped = given.filter(file => file.includes(',')).flatMap(file => file.split(','))
  const silent = grouped.filter(file => !took.has(file))
  if (silent.length > 0) {
    console.error(`no test ran in ${silent.join(', ')}`)
    process.exitCode = 1
  }
  const known = existsSync(times) ? JSON.parse(readFileSync(times, 'utf8')) : {}
  writeFileSync(times, JSON.stringify({ ...known, ...Object.fromEntries(took) }))
})
stream.compose(new spec()).pipe(process.stdout)

/** Errors and tests know their sources, in whichever checkout these were compiled. */
function compiledOf(source) {
  const path = source.replace(/\.[jt]s$/, '.js')
  const fitting = members.filter(file => path.endsWith(`/${file.replace(/^dist\W/, '')}`))
  return fitting.sort((a, b) => b.length - a.length)[0]
}

/** Writes a program that runs the tests of several files one after the other. */
function group(files, at) {
  const path = join(GROUPS, `${at}.test.mjs`)
  const lines = files.map(file => `await import(${JSON.stringify(resolve(file))})\n`)
  writeFileSync(path, lines.join(''))
  return path
}
