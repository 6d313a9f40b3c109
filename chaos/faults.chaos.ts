/**
 * What the world does to a registry: a full disk, a disk that only reads, errors of the disk, a slow
 * one, missing permission, too few descriptors, a database that is locked, damaged, cut or empty, a
 * clock that is years off. Writes are refused in words, reads go on, the service returns by itself
 * when the fault goes, and `verify` finds nothing afterwards.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Libsql from 'libsql'
import { RawClient } from '../test/support/raw-client.ts'
import {
  ask,
  isSuccess,
  promiseBytes,
  promiseSuccess,
  putVersion,
  type Reply,
  readIndex,
} from './api.ts'
import { Folder, type Manner, type Program } from './program.ts'
import { chaos, promise, type Run, Violation } from './run.ts'

const HOOK = new URL('faults/hook.js', import.meta.url).href
/** Cargo gives up after 30 s of silence. */
const ANSWER_MS = 30_000
/** The daemon may need so long to see that a fault is gone: that connections were closed, say. */
const RETURN_MS = 10_000
const YEAR = 365 * 24 * 3_600_000
/** Files of this size fill the disk. */
const FILLING = 256 * 1024

let places = 0

/** A registry with a version, and a daemon on it. */
interface Scene {
  readonly run: Run
  readonly folder: Folder
  readonly token: string
  readonly url: string
  readonly daemon: Program
  /** Versions that were acknowledged. */
  readonly names: string[]
}

const trials: Readonly<Record<string, (run: Run) => Promise<string>>> = {
  'full disk': fullDisk,
  'read-only disk, at the start': startReadOnly,
  'read-only disk, meanwhile (EROFS)': run => withHook(run, 'EROFS'),
  'errors of the disk (EIO)': run => withHook(run, 'EIO'),
  'no more descriptors on disk operations (EMFILE)': run => withHook(run, 'EMFILE'),
  'slow disk, 200 ms each operation': slowDisk,
  'descriptors exhausted (ulimit -n 80)': fewDescriptors,
  'database locked by another process': lockedDatabase,
  'no permission to write': noPermission,
  'clock 20 years ahead, then back': clocks,
  'database damaged': run => brokenDatabase(run, damage),
  'database cut': run => brokenDatabase(run, path => truncateSync(path, 5000)),
  'database empty': run => brokenDatabase(run, path => truncateSync(path, 0)),
}

await chaos('faults', { count: 1, minutes: 20, options: ['only'] }, async run => {
  const violations: string[] = []
  for (const [name, trial] of Object.entries(trials)) {
    if (run.options.only !== undefined && !name.includes(run.options.only)) continue
    try {
      run.row(name, await trial(run))
      console.log(`  ${name}: as promised`)
    } catch (error) {
      const why = error instanceof Violation ? error.message : String((error as Error).stack)
      violations.push(`${name}: ${why}`)
      console.log(`  ${name}: VIOLATED`)
    }
  }
  promise(violations.length === 0, violations.join('\n\n'))
})

async function begin(run: Run, manner: Manner = {}, place = newPlace(run)): Promise<Scene> {
  const folder = new Folder(join(place, 'registry'), { env: { PLIMSOLL_GIT_INDEX: 'off' } })
  const [token = ''] = await folder.prepare('alice')
  const daemon = folder.serve(manner)
  run.onEnd(() => daemon.kill())
  const scene = { run, folder, token, daemon, url: await daemon.url(), names: [] }
  await publishGood(scene, 'before')
  return scene
}

function newPlace(run: Run): string {
  const place = join(run.folder, `place-${places++}`)
  mkdirSync(place)
  return place
}

async function publishGood(scene: Scene, name: string): Promise<void> {
  const reply = await putVersion(scene.url, scene.token, name, '1.0.0')
  if (reply === null) throw new Violation(scene.daemon.story('did not answer'))
  promiseSuccess(`a publish of ${name}`, reply)
  scene.names.push(name)
}

/** Publishes while something is wrong; gives the words of the refusal. */
async function publishBad(scene: Scene, name: string): Promise<string> {
  const began = performance.now()
  const reply = await putVersion(scene.url, scene.token, name, '1.0.0')
  const took = performance.now() - began
  if (reply === null) throw new Violation(scene.daemon.story('broke off'))
  promise(!isSuccess(reply), `a publish of ${name} succeeds while nothing can be written`)
  promise(took < ANSWER_MS, `the refusal takes ${took.toFixed(0)} ms`)
  const words = wordsOf(reply)
  promise(words !== '', `the refusal says nothing: ${reply.status} ${reply.bytes}`)
  return words
}

function wordsOf({ bytes }: Reply): string {
  const { errors } = JSON.parse(bytes.toString()) as { errors?: { detail: string }[] }
  return errors?.map(error => error.detail).join(', ') ?? ''
}

/** Fails unless everything that was acknowledged is served. */
async function promiseReads({ url, names }: Scene): Promise<void> {
  for (const name of names) {
    const lines = await readIndex(url, name)
    promise(lines?.length === 1, `${name} is not in the index`)
    for (const line of lines) await promiseBytes(url, line)
  }
  promise((await ask(`${url}/healthz`))?.status === 200, '/healthz does not answer')
}

/** The fault is gone: soon a publish succeeds, and nothing is wrong. */
async function promiseReturn(scene: Scene): Promise<void> {
  const end = performance.now() + RETURN_MS
  const isBack = async () => {
    const reply = await putVersion(scene.url, scene.token, 'back', '1.0.0')
    return reply !== null && isSuccess(reply)
  }
  while (!(await isBack()) && performance.now() < end) await sleep(100)
  await publishGood(scene, 'afterwards')
  await promiseReads(scene)
  await scene.folder.verify()
  scene.daemon.child.kill('SIGTERM')
  const ended = await scene.daemon.ended
  promise(ended === 0, scene.daemon.story(`ended with ${ended}`))
  // A new daemon finds nothing left to do.
  await scene.folder.run('build')
  await scene.folder.verify()
}

async function fullDisk(run: Run): Promise<string> {
  const place = smallDisk(run)
  const scene = await begin(run, {}, place)
  fillDisk(place)
  let words = ''
  for (let at = 0; at < 4; at++) {
    words = await publishBad(scene, `while-${at}`)
    await promiseReads(scene)
  }
  emptyDisk(place)
  await promiseReturn(scene)
  return words
}

/** A daemon does not start where it cannot write, and says so; it starts when it can. */
async function startReadOnly(run: Run): Promise<string> {
  const place = smallDisk(run)
  const scene = await begin(run, {}, place)
  scene.daemon.child.kill('SIGTERM')
  await scene.daemon.ended
  mount('-o', 'remount,ro', place)
  const program = scene.folder.serve()
  const ended = await program.ended
  promise(ended === 1 || ended === 2, program.story(`ended with ${ended}`))
  promise(!/\n\s+at /.test(program.stderr), program.story('shows a stack'))
  mount('-o', 'remount,rw', place)
  const daemon = scene.folder.serve()
  run.onEnd(() => daemon.kill())
  await promiseReturn({ ...scene, daemon, url: await daemon.url() })
  return lastLine(program.stderr)
}

function smallDisk(run: Run): string {
  const place = newPlace(run)
  mount('-t', 'tmpfs', '-o', 'size=24m', 'plimsoll-chaos', place)
  run.onEnd(() => execFileSync('umount', ['-l', place]))
  return place
}

function mount(...args: string[]): void {
  execFileSync('mount', args, { stdio: 'pipe' })
}

function fillDisk(place: string): void {
  for (let size = FILLING; size >= 512; size = size > 512 ? Math.max(512, size / 8) : 0)
    for (let at = 0; ; at++) {
      try {
        writeFileSync(join(place, `filling-${size}-${at}`), Buffer.alloc(size))
      } catch {
        break
      }
    }
}

function emptyDisk(place: string): void {
  execFileSync('sh', ['-c', `rm -f '${place}'/filling-*`])
}

function hooked(
  run: Run,
  env: Readonly<Record<string, string>>,
): Manner & { readonly file: string } {
  const file = join(run.folder, `fault-${places++}`)
  return { node: ['--import', HOOK], env: { FAULT_FILE: file, ...env }, file }
}

async function withHook(run: Run, code: string): Promise<string> {
  const manner = hooked(run, {})
  const scene = await begin(run, manner)
  writeFileSync(manner.file, code)
  let words = ''
  for (let at = 0; at < 4; at++) {
    words = await publishBad(scene, `while-${at}`)
    await promiseReads(scene)
  }
  writeFileSync(manner.file, '')
  await promiseReturn(scene)
  return words
}

async function slowDisk(run: Run): Promise<string> {
  const manner = hooked(run, {})
  const scene = await begin(run, manner)
  writeFileSync(manner.file, 'slow 200')
  const publishes = Array.from({ length: 4 }, (_, at) => publishGood(scene, `slow-${at}`))
  let slowest = 0
  let isOver = false
  const reads = async () => {
    while (!isOver) {
      const began = performance.now()
      promise((await ask(`${scene.url}/healthz`))?.status === 200, '/healthz does not answer')
      slowest = Math.max(slowest, performance.now() - began)
    }
  }
  const reading = reads()
  await Promise.all(publishes)
  isOver = true
  await reading
  writeFileSync(manner.file, '')
  await promiseReturn(scene)
  return `published; the slowest /healthz took ${slowest.toFixed(0)} ms`
}

async function fewDescriptors(run: Run): Promise<string> {
  const scene = await begin(run, { through: ['sh', '-c', 'ulimit -n 80; exec "$@"', 'sh'] })
  const clients: RawClient[] = []
  for (let at = 0; at < 120; at++) clients.push(await RawClient.open(scene.url))
  await sleep(500)
  promise(!scene.daemon.hasEnded, scene.daemon.story('ended'))
  for (const client of clients) client.socket.destroy()
  await promiseReturn(scene)
  return `alive with ${clients.length} idle connections; back when they are gone`
}

async function lockedDatabase(run: Run): Promise<string> {
  const scene = await begin(run)
  const other = new Libsql(join(scene.folder.dir, 'plimsoll.db'))
  other.exec('BEGIN IMMEDIATE')
  const words = await publishBad(scene, 'while-0')
  await promiseReads(scene)
  other.exec('ROLLBACK')
  other.close()
  await promiseReturn(scene)
  return words
}

async function noPermission(run: Run): Promise<string> {
  const place = newPlace(run)
  chmodSync(run.folder, 0o755)
  const folder = new Folder(join(place, 'registry'), { env: { PLIMSOLL_GIT_INDEX: 'off' } })
  await folder.prepare('alice')
  const nobody = { through: ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] }
  const program = folder.start(['build'], nobody)
  const ended = await program.ended
  promise(ended === 1 || ended === 2, program.story(`ended with ${ended}`))
  promise(!/\n\s+at /.test(program.stderr), program.story('shows a stack'))
  await folder.verify()
  return lastLine(program.stderr)
}

async function clocks(run: Run): Promise<string> {
  const ahead = await begin(run, hooked(run, { FAULT_CLOCK: String(20 * YEAR) }))
  ahead.daemon.child.kill('SIGTERM')
  await ahead.daemon.ended
  for (const shift of [-20 * YEAR, 0]) {
    const daemon = ahead.folder.serve(hooked(run, { FAULT_CLOCK: String(shift) }))
    run.onEnd(() => daemon.kill())
    const scene = { ...ahead, daemon, url: await daemon.url() }
    if (shift === 0) await promiseReturn(scene)
    else {
      await publishGood(scene, 'long-ago')
      await promiseReads(scene)
      daemon.child.kill('SIGTERM')
      await daemon.ended
    }
  }
  return 'published at all three times; verify finds nothing'
}

function damage(path: string): void {
  const bytes = readFileSync(path)
  for (let at = 100; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 64)
  writeFileSync(path, bytes)
}

/** A daemon on a broken database does not start, says why, and changes nothing. */
async function brokenDatabase(run: Run, breakIt: (path: string) => void): Promise<string> {
  const scene = await begin(run)
  scene.daemon.child.kill('SIGTERM')
  await scene.daemon.ended
  const path = join(scene.folder.dir, 'plimsoll.db')
  const copy = join(run.folder, `copy-${places++}`)
  cpSync(scene.folder.dir, copy, { recursive: true })
  for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  breakIt(path)
  const said: string[] = []
  for (const words of [['serve', '--listen', '127.0.0.1:0'], ['verify']]) {
    const program = scene.folder.start(words)
    run.onEnd(() => program.kill())
    const ended = await Promise.race([program.ended, program.url().catch(() => program.ended)])
    promise(typeof ended === 'number' && ended > 0, program.story(`goes on: ${ended}`))
    promise(!/\n\s+at /.test(program.stderr), program.story('shows a stack'))
    said.push(lastLine(program.stderr || program.stdout))
  }
  // Whoever has a copy puts it back.
  rmSync(scene.folder.dir, { recursive: true })
  cpSync(copy, scene.folder.dir, { recursive: true })
  await scene.folder.verify()
  return said[0] ?? ''
}

function lastLine(text: string): string {
  return (text.trim().split('\n').at(-1) ?? '').replaceAll(/\/\S*\/plimsoll-chaos\S*?\//g, '…/')
}
