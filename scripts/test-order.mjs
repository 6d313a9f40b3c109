// Which test files share a process, and which begin first.
import { existsSync, readFileSync } from 'node:fs'
import { startsProcess, textOf } from './test-modules.mjs'

/** Suites that may take long: of a main promise, and for `npm run test:all`. */
export const LONG = /\.(?:main|slow)\.test\.js$/

/**
 * Files that wait for browsers, Cargo, kills, servers or slow clients most of the time. Each has its
 * process: by their share of a group's time they would seem to take too much.
 */
const WAITING = new RegExp(
  [
    'browser/',
    'conformance/',
    'crash/',
    'contract/(?:postgres|bucket-away)',
    'daemon/files/(?:stored-crate|git-http-load)',
  ]
    .join('|')
    .replaceAll('/', '[\\\\/]'),
)
/** Number of processes that run short tests. */
const GROUPS = 10

/**
 * Returns what each process of a run gets, in the order in which they begin: a file, or short files
 * joined by commas. `times` is the file with the milliseconds of the last run, if there was one.
 */
export function processesFor(files, times) {
  return files.length > GROUPS ? grouped(files, times) : slowFirst(files, times)
}

/** Whether a file replaces what others in its process use: timers, or methods of a class. */
function mocksOthers(file) {
  const mocks = /mock\.timers\.enable\(\{ apis: \[.set|mock\.method\(\w+\.prototype/
  return mocks.test(textOf(file))
}

/**
 * Deals short files out to a few processes, joined by commas: in a process of its own, most take
 * longer to load than to run. They compute while the others wait: every other process is a group.
 */
function grouped(files, times) {
  const short = files.filter(
    file => ![WAITING, LONG].some(name => name.test(file)) && !mocksOthers(file),
  )
  const groups = short
    .slice(0, GROUPS)
    .map((_, at) => short.filter((_, index) => index % GROUPS === at).join(','))
  const others = slowFirst(
    files.filter(file => !short.includes(file)),
    times,
  )
  const pairs = groups.flatMap((group, at) => [...others.slice(at, at + 1), group])
  return [...pairs, ...others.slice(groups.length)]
}

/**
 * Slow files first, so that none is left alone at the end: by the last time or, without one, those
 * that may take long, then others that start processes.
 */
function slowFirst(files, times) {
  const last = existsSync(times) ? JSON.parse(readFileSync(times, 'utf8')) : {}
  const cost = file =>
    last[file] ?? (LONG.test(file) ? 60_000 : startsProcess(file) ? 30_000 : 1000)
  return files
    .map(file => [cost(file), file])
    .sort(([a], [b]) => b - a)
    .map(([, file]) => file)
}
