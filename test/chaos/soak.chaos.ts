/**
 * Steady load for ten minutes, or for `--minutes`: memory, descriptors, latencies and the disk stay
 * flat. Every version is published, yanked, and read. A crate with 400 versions gives way to a new
 * one, because a publish costs more the longer its index file is, whatever the daemon's age. Prints
 * a line every so often and a plot.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../support/measure.ts'
import type { Random } from '../support/random.ts'
import { ask, ensureSuccess, putVersion, type Reply, readIndex } from './driver/api.ts'
import { requestOf } from './driver/wish.ts'
import { Probe, residentMiB } from './probe.ts'
import { Folder, type Program } from './program.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'

const CLIENTS = 4
/** Crates of a client that grow at a time, and how many versions each gets on average. */
const CRATES = 5
const VERSIONS = 400
/** Milliseconds between two operations of a client: steady, not as many as possible. */
const PAUSE_MS = 400
const SAMPLES = 40
const BARS = '▁▂▃▄▅▆▇█'

/** A look at the daemon. */
interface Sample {
  readonly memory: number
  readonly descriptors: number
  /** The p95 time of publishes, in milliseconds. */
  readonly publish: number
  /** The p99 time of `/healthz`, in milliseconds. */
  readonly late: number
  /** Bytes on disk for each version, in KiB. */
  readonly disk: number
}

/** Measured values; the last quarter may have `factor` × the second quarter + `more`. */
const SEEN: readonly (readonly [key: keyof Sample, unit: string, factor: number, more: number])[] =
  [
    ['memory', 'MiB', 1.25, 0],
    ['descriptors', '', 1, 8],
    ['publish', 'ms, p95 of a publish', 1.5, 20],
    ['late', 'ms, p99 of /healthz', 1.5, 20],
    ['disk', 'KiB a version', 1.25, 0],
  ]

/** The clients' work; `took` has the times of the last publishes. */
interface Progress {
  versions: number
  operations: number
  took: number[]
}

await chaos('soak', { count: 0, minutes: 10 }, async run => {
  const folder = new Folder(join(run.folder, 'registry'), { env: { PLIMSOLL_GIT_INDEX: 'on' } })
  const [token = ''] = await folder.prepare('alice')
  const daemon = folder.serve()
  run.onEnd(() => daemon.kill())
  const url = await daemon.url()
  const probe = new Probe(url)
  run.onEnd(() => probe.end())
  const done: Progress = { versions: 0, operations: 0, took: [] }
  const load = Array.from({ length: CLIENTS }, (_, at) =>
    client(run, url, token, at, run.random.fork(), done),
  )
  const samples: Sample[] = []
  const watching = watch(run, folder, daemon, probe, done, samples)
  await Promise.all([...load, watching])
  judge(run, samples)
  run.row('operations', `${done.operations}, ${done.versions} of them publishes`)
  await folder.verify()
})

async function client(
  run: Run,
  url: string,
  token: string,
  number: number,
  random: Random,
  done: Progress,
): Promise<void> {
  for (let at = 0; performance.now() < run.deadline; at++) {
    const name = nameOf(number, random.below(CRATES), at)
    const version = `1.${at}.0`
    const began = performance.now()
    await success(putVersion(url, token, name, version))
    done.took.push(performance.now() - began)
    done.versions++
    if (random.chance(0.5))
      await success(ask(requestOf(url, token, name, { what: 'yank', about: version })))
    const lines = await readIndex(url, name)
    ensure(
      lines?.some(line => line.vers === version),
      `${name} ${version} is not in the index`,
    )
    done.operations += 3
    await sleep(PAUSE_MS)
  }
}

/** The crate in a place of a client at an operation; places change their crates one after the other. */
function nameOf(client: number, place: number, at: number): string {
  const series = Math.floor((at + place * VERSIONS) / (CRATES * VERSIONS))
  return `s-${client}-${place}-${series}`
}

async function success(request: Promise<Reply | null>): Promise<void> {
  const reply = await request
  if (reply === null) throw new Violation('the daemon broke off')
  ensureSuccess('a change', reply)
}

async function watch(
  run: Run,
  folder: Folder,
  daemon: Program,
  probe: Probe,
  done: Progress,
  samples: Sample[],
): Promise<void> {
  const pause = (run.deadline - performance.now()) / SAMPLES
  while (performance.now() + pause < run.deadline + 100) {
    await sleep(pause)
    ensure(!daemon.hasEnded, daemon.story('ended'))
    const size = execFileSync('du', ['-sk', folder.dir], { encoding: 'utf8' })
    samples.push({
      memory: residentMiB(daemon.child.pid),
      descriptors: readdirSync(`/proc/${daemon.child.pid}/fd`).length,
      publish: quantile(done.took.splice(0), 0.95),
      late: quantile(await probe.take(), 0.99),
      disk: Math.round(Number.parseInt(size, 10) / Math.max(1, done.versions)),
    })
    if (samples.length % 10 === 0) console.log(`  ${JSON.stringify(samples.at(-1))}`)
  }
}

function judge(run: Run, samples: readonly Sample[]): void {
  const length = Math.ceil(samples.length / 4)
  const typical = (quarter: number, key: keyof Sample) => {
    const part = samples.slice(quarter * length, (quarter + 1) * length)
    return quantile(
      part.map(sample => sample[key]),
      0.5,
    )
  }
  for (const [key, unit] of SEEN) {
    const values = samples.map(sample => sample[key])
    const [low, high] = [Math.min(...values), Math.max(...values)]
    run.row(key, `${plot(values)} ${low.toFixed(0)} to ${high.toFixed(0)} ${unit}`)
  }
  for (const [key, unit, factor, more] of SEEN) {
    // Once everything is warm.
    const [before, after] = [typical(1, key), typical(3, key)]
    ensure(
      after <= before * factor + more,
      `${key} grows from ${before.toFixed(0)} to ${after.toFixed(0)} ${unit}`,
    )
  }
}

function plot(values: readonly number[]): string {
  const high = Math.max(...values, 1)
  return values
    .map(value => BARS[Math.min(BARS.length - 1, Math.floor((value / high) * BARS.length))])
    .join('')
}
