// The git index after 100,000 publishes: what a commit, a clone, a fetch and packing cost. `npm run
// bench git-index`, two minutes.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { gitHttp } from '../daemon/files/git-http/git-http.ts'
import { openIndexRepository } from '../generator/git/index-repository/repository.ts'

const PUBLISHES = Number(process.env.PLIMSOLL_BENCH_PUBLISHES ?? 100_000)
const CRATES = PUBLISHES / 5
const run = promisify(execFile)
const work = join(dirname(fileURLToPath(import.meta.url)), '../../bench/.work/git-index')
const path = join(work, 'index.git')

/** The same numbers at every run (a linear congruential generator). */
let seed = 1
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}
const letters = (count: number): string =>
  String.fromCharCode(...Array.from({ length: count }, () => 97 + random(26)))
const names = Array.from({ length: CRATES }, (_, i) => `${letters(4)}-${i}`)
const tier = (name: string): string => `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
const files = new Map<string, string>()

/** Adds a version to a crate and gives its index file. */
function publish(name: string): string {
  const before = files.get(name) ?? ''
  const vers = `1.${before.split('\n').length - 1}.0`
  const deps = Array.from({ length: random(4) }, () => ({
    name: names[random(CRATES)],
    req: '^1.0',
    features: [],
    optional: false,
    default_features: true,
    target: null,
    kind: 'normal',
  }))
  const cksum = Array.from({ length: 64 }, () => random(16).toString(16)).join('')
  const line = {
    name,
    vers,
    deps,
    cksum,
    features: {},
    yanked: false,
    pubtime: '2026-11-20T12:00:00Z',
  }
  const text = `${before}${JSON.stringify(line)}\n`
  files.set(name, text)
  return text
}

async function timed<T>(what: string, task: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const value = await task()
  console.log(`${what.padEnd(58)} ${((performance.now() - start) / 1000).toFixed(2).padStart(8)} s`)
  return value
}

const size = (folder: string): string => {
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  return `${(bytes / 1e6).toFixed(1)} MB`
}

/**
 * All publishes in one stream: the history that as many commits make, without waiting for the disk
 * after each.
 */
async function history(): Promise<void> {
  const child = spawn('git', ['--git-dir', path, 'fast-import', '--quiet', '--done'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  for (let i = 0; i < PUBLISHES; i++) {
    const name = names[i % CRATES] ?? ''
    const [text, message] = [publish(name), `Publish ${name} (by bench)\n`]
    const head = `commit refs/heads/master\ncommitter Bench <b@localhost> ${1_700_000_000 + i} +0000\n`
    const body = `data ${message.length}\n${message}\nM 100644 inline ${tier(name)}\ndata ${text.length}\n${text}\n`
    if (!child.stdin.write(head + body)) await once(child.stdin, 'drain')
  }
  child.stdin.end('done\n')
  await once(child, 'close')
}

async function clones(): Promise<void> {
  const app = new Hono()
  const handle = gitHttp({ repositoryPath: path })
  app.all('/index.git/*', c => handle(c))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/index.git`
  for (const [what, args] of [
    ['clone over smart HTTP', []],
    ['shallow clone over smart HTTP', ['--depth=1']],
  ] as const) {
    const clone = join(work, 'clone')
    rmSync(clone, { recursive: true, force: true })
    await timed(what, () => run('git', ['clone', '-q', '--bare', ...args, url, clone]))
    console.log(`  its size: ${size(clone)}`)
    if (args.length === 0)
      await timed('  fetch with nothing new', () =>
        run('git', ['--git-dir', clone, 'fetch', '-q', url]),
      )
  }
  server.close()
}

async function commits(engine: 'git' | 'nodegit', where: string, what: string): Promise<void> {
  const repository = await openIndexRepository({ path: where, engine })
  const times: number[] = []
  for (let i = 0; i < 200; i++) {
    const name = names[random(CRATES)] ?? ''
    const bytes = Buffer.from(publish(name))
    const start = performance.now()
    await repository.commit([{ path: tier(name), bytes }], {
      message: `Publish ${name} (by bench)\n`,
      time: new Date(),
    })
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const at = (share: number): string =>
    `${(times[Math.floor(times.length * share)] ?? 0).toFixed(1)} ms`
  console.log(`${`commit, ${engine}, ${what}`.padEnd(58)} median ${at(0.5)}, 99 % ${at(0.99)}`)
  await timed(`  maintain after ${times.length} of them`, () => repository.maintain())
  await timed('  maintain with nothing to do', () => repository.maintain())
  await repository.close()
}

rmSync(work, { recursive: true, force: true })
mkdirSync(work, { recursive: true })
const fresh = await openIndexRepository({ path, engine: 'git' })
await timed(`history of ${PUBLISHES} publishes of ${CRATES} crates`, history)
console.log(`  its size: ${size(path)}`)
await timed('clone before maintain', clones)
await timed('first maintain: everything packed, bitmap, commit graph', () => fresh.maintain())
console.log(`  its size: ${size(path)}`)
await fresh.close()
await clones()
const nodegit = await openIndexRepository({ path, engine: 'auto' })
await nodegit.close()
for (const engine of nodegit.engine === 'nodegit'
  ? (['git', 'nodegit'] as const)
  : (['git'] as const)) {
  await commits(engine, join(work, `empty-${engine}.git`), 'new repository')
  const copy = join(work, `${engine}.git`)
  cpSync(path, copy, { recursive: true })
  await commits(engine, copy, `after ${PUBLISHES} publishes`)
}
rmSync(work, { recursive: true, force: true })
