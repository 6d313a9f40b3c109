// Runs test files in the order in which they are given, several beside each other, and notes how
// long the tests of each took: `node test-files.mjs CONCURRENCY TIMEOUT_MS TIMES FILE…`. Files that are joined by
// commas share a process. The command line of Node itself sorts its files by name, so that slow ones may come last.
// A file whose name does not say that it may take long fails when it takes more processor time than
// a short one may.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const GROUPS = join('dist', 'test-groups')
const LONG = /\.(?:main|slow)\.test\.js$/

/** Milliseconds of processor time that a short file may take on the machine of the figures. */
const SHORT_MS = Number(process.env.TEST_SHORT_MS ?? 5000)
/** What `work` takes there. */
const WORK_MS = 90

/** With these settings, tests run on something else than by default, or do more. */
const OTHERS = ['TEST_DATABASE', 'TEST_S3', 'CRASH', 'CARGO', 'CONFORMANCE']
const isUsual = !OTHERS.some(name => process.env[`PLIMSOLL_${name}`])

const [concurrency, timeout, times, ...given] = process.argv.slice(2)
rmSync(GROUPS, { recursive: true, force: true })
mkdirSync(GROUPS)
const notes = resolve(GROUPS, 'processor-times')
process.env.TEST_PROCESSOR_TIMES = notes
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
process.on('exit', () => {
  if (process.exitCode || !isUsual) return
  for (const file of tooLong()) {
    console.error(`✖ ${sourceOf(file)} should do less, or be ….main.test.ts or ….slow.test.ts`)
    process.exitCode = 1
  }
})

/**
 * Returns the short files that take too long, and says how long. Whatever may have is run once more
 * with nothing beside it; a slower machine has more time.
 */
function tooLong() {
  const suspects = members.filter(file => !LONG.test(file) && mayTakeLong(file))
  if (suspects.length === 0) return []
  const limit = Math.round(SHORT_MS * Math.max(1, work() / WORK_MS))
  return suspects.filter(file => {
    spawnSync(process.execPath, [...process.execArgv, file], { stdio: 'ignore' })
    const milliseconds = processorTimes().get(file) ?? 0
    const spent = `${milliseconds} ms of processor time`
    console.error(`${sourceOf(file)} took ${spent}, where a file may take ${limit} ms`)
    return milliseconds > limit
  })
}

function sourceOf(file) {
  return relative('dist', file).replace(/js$/, 'ts')
}

/**
 * In a group nobody knows the processor time of a file: it may have a quarter more than its share of
 * the group's, by the time that its tests took. Beside others, it takes more than alone.
 */
function mayTakeLong(file) {
  const times = processorTimes()
  const at = given.findIndex(group => group.split(',').includes(file))
  const tests = given[at].split(',').reduce((sum, each) => sum + (took.get(each) ?? 0), 0)
  const share = (times.get(files[at]) ?? 0) * ((took.get(file) ?? 0) / tests)
  return (times.get(file) ?? 1.25 * share) > SHORT_MS
}

/** The last processor time of each file that had a process of its own. */
function processorTimes() {
  const lines = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []
  return new Map(
    lines
      .map(line => JSON.parse(line))
      .map(({ file, milliseconds }) => [relative('.', file), milliseconds]),
  )
}

/** Milliseconds of processor time that a fixed piece of work takes: how slow this machine is now. */
function work() {
  const before = process.cpuUsage()
  const values = Array.from({ length: 2000 }, (_, at) => ({ at, text: `value ${at}` }))
  for (let round = 0; round < 200; round++) JSON.parse(JSON.stringify(values))
  return process.cpuUsage(before).user / 1000
}

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
