/**
 * The cost of eight hostile publishes at once for everybody else: the time of `/healthz` meanwhile,
 * and their use of the machine. `PLIMSOLL_BENCH_ROOT` measures another checkout, compiled, to
 * compare two commits.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { buildCrate } from '../test/support/crate-builder.ts'
import { quantile } from '../test/support/measure.ts'
import { root } from '../test/support/plimsoll.ts'
import { encodePublish } from '../test/support/release.ts'

const PROGRAM = join(resolve(process.env.PLIMSOLL_BENCH_ROOT ?? root), 'dist/program/cli.js')
const KB = 1024

/** Milliseconds between two questions. */
const PERIOD = 10

/** Longest that the pages of all are waited for, in milliseconds. */
const TIMEOUT_MS = 240_000

const repeated = (text: string, length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length)

function numbered(part: (at: number) => string, length: number): string {
  let text = ''
  for (let at = 0; text.length < length; at++) text += part(at)
  return text.slice(0, length)
}

const READMES = {
  formatting: numbered(at => `<p><b id=${at}>x`, 48 * KB),
  addresses: repeated('http://a.com/((((', 64 * KB),
  alerts: repeated('>[!TIP]\n\n', 256 * KB),
  lists: repeated('- > - >\n', 256 * KB),
  words: repeated('aaa_i', 256 * KB),
  constructor: '<constructor>',
}
const crates = Object.entries(READMES).map(([name, text]) =>
  buildCrate({
    name: `hostile-${name}`,
    version: '1.0.0',
    manifest: 'readme = "README.md"',
    files: { 'src/lib.rs': '', 'README.md': text },
  }),
)
for (const name of ['archive-a', 'archive-b']) {
  const zeros = new Uint8Array(490 * KB * KB)
  crates.push(buildCrate({ name, version: '1.0.0', files: { 'src/lib.rs': '', zeros } }))
}
const names = [...Object.keys(READMES).map(name => `hostile-${name}`), 'archive-a', 'archive-b']

// The checkout that is measured may know other settings.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('PLIMSOLL_')),
)
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
const plimsoll = (...args: string[]) =>
  execFileSync(process.execPath, [PROGRAM, ...args, '--dir', folder], { encoding: 'utf8', env })
plimsoll('init')
plimsoll('user', 'add', 'mallory')
const token = plimsoll('token', 'create', '--user', 'mallory').trim()
const daemon = spawn(
  process.execPath,
  [PROGRAM, 'serve', '--dir', folder, '--listen', '127.0.0.1:0'],
  { stdio: ['ignore', 'pipe', 'ignore'], env },
)
try {
  await measureHealth(await address())
} finally {
  daemon.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function measureHealth(url: string): Promise<void> {
  const idle = await probe(url, () => setTimeout(1000))
  console.log(`  before: ${latencies(idle)}`)
  const began = performance.now()
  const cpu = processorSeconds()
  let answered = 0
  const hostile = await probe(url, async () => {
    await Promise.all(
      crates.map(async (crate, at) => {
        await publish(url, names[at] ?? '', crate)
        answered = Math.max(answered, performance.now() - began)
      }),
    )
    await quiet()
  })
  console.log(`  eight hostile publishes: ${latencies(hostile)}`)
  console.log(
    `  the last is answered after ${format(answered)}, all is done after ${format(performance.now() - began)}, ${(processorSeconds() - cpu).toFixed(1)} s of processor time`,
  )
}

/**
 * The latencies of `/healthz` while `work` goes on, in milliseconds, each from the moment at which it
 * was due: a daemon that stands still for a second makes a hundred late answers, not one.
 */
async function probe(url: string, work: () => Promise<unknown>): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  for (let due = performance.now(); !isOver; due += PERIOD) {
    await setTimeout(Math.max(0, due - performance.now()))
    await new Promise<void>((done, fail) => {
      get(`${url}/healthz`, { agent }, answer => answer.resume().on('end', done)).on('error', fail)
    })
    times.push(performance.now() - due)
  }
  agent.destroy()
  await working
  return times
}

async function publish(url: string, name: string, crate: Uint8Array): Promise<void> {
  const metadata = { name, vers: '1.0.0', deps: [], features: {} }
  const answer = await fetch(`${url}/api/v1/crates/new`, {
    method: 'PUT',
    headers: { authorization: token },
    body: new Uint8Array(encodePublish(metadata, crate)),
  })
  const text = await answer.text()
  if (!answer.ok || text.includes('"errors"')) console.log(`  ${name}: ${text.slice(0, 200)}`)
}

/** Resolves when the daemon does nothing any more, or when it takes too long. */
async function quiet(): Promise<void> {
  const end = performance.now() + TIMEOUT_MS
  for (let idle = 0; idle < 4 && performance.now() < end; ) {
    const before = processorSeconds()
    await setTimeout(500)
    // The probe itself takes some.
    idle = processorSeconds() - before < 0.25 ? idle + 1 : 0
  }
}

/** Processor time of the daemon so far (Linux). */
function processorSeconds(): number {
  const fields = readFileSync(`/proc/${daemon.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function address(): Promise<string> {
  let text = ''
  for await (const piece of daemon.stdout) {
    text += String(piece)
    const found = /listening on (http:\S+)/.exec(text)
    if (found?.[1]) return found[1]
  }
  throw new Error('the daemon did not start')
}

function latencies(times: readonly number[]): string {
  const [half, most, all] = [0.5, 0.99, 1].map(part => format(quantile(times, part)))
  return `/healthz p50 ${half}, p99 ${most}, longest ${all} (${times.length} requests)`
}

function format(milliseconds: number): string {
  return `${Math.round(milliseconds)} ms`
}
