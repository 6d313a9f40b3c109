/**
 * Faults of the world around a registry: a full disk, a disk that only reads, errors of the disk, a
 * slow one, missing permission, too few descriptors, a database that is locked, damaged, cut or
 * empty, a clock that is years off. Writes are refused in words, reads go on, the service returns
 * by itself when the fault goes, and `verify` finds nothing afterwards.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Libsql from 'libsql'
import { RawClient } from '../test/support/raw-client.ts'
import { ask } from './driver/api.ts'
import {
  begin,
  ensureReads,
  ensureReturn,
  hooked,
  lastLine,
  newPlace,
  publishBad,
  publishGood,
} from './faults/scene.ts'
import { Folder } from './program.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'

const YEAR = 365 * 24 * 3_600_000
/** Files of this size fill the disk. */
const FILLING = 256 * 1024

const trials: Readonly<Record<string, (run: Run) => Promise<string>>> = {
  'full disk': fullDisk,
  'read-only disk, at the start': startReadOnly,
  'read-only disk, meanwhile (EROFS)': run => withHook(run, 'EROFS'),
  'errors of the disk (EIO)': run => withHook(run, 'EIO'),
  'no more descriptors on disk operations (EMFILE)': run => withHook(run, 'EMFILE'),
  'slow disk, 200 ms each operation': slowDisk,
  'descriptors exhausted (ulimit -n 160)': fewDescriptors,
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
  ensure(violations.length === 0, violations.join('\n\n'))
})

async function fullDisk(run: Run): Promise<string> {
  const place = smallDisk(run)
  const scene = await begin(run, {}, place)
  fillDisk(place)
  let words = ''
  for (let at = 0; at < 4; at++) {
    words = await publishBad(scene, `while-${at}`)
    await ensureReads(scene)
  }
  emptyDisk(place)
  await ensureReturn(scene)
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
  ensure(ended === 1 || ended === 2, program.story(`ended with ${ended}`))
  ensure(!/\n\s+at /.test(program.stderr), program.story('shows a stack'))
  mount('-o', 'remount,rw', place)
  const daemon = scene.folder.serve()
  run.onEnd(() => daemon.kill())
  await ensureReturn({ ...scene, daemon, url: await daemon.url() })
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

async function withHook(run: Run, code: string): Promise<string> {
  const manner = hooked(run, {})
  const scene = await begin(run, manner)
  writeFileSync(manner.file, code)
  let words = ''
  for (let at = 0; at < 4; at++) {
    words = await publishBad(scene, `while-${at}`)
    await ensureReads(scene)
  }
  writeFileSync(manner.file, '')
  await ensureReturn(scene)
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
      ensure((await ask(`${scene.url}/healthz`))?.status === 200, '/healthz does not answer')
      slowest = Math.max(slowest, performance.now() - began)
    }
  }
  const reading = reads()
  await Promise.all(publishes)
  isOver = true
  await reading
  writeFileSync(manner.file, '')
  await ensureReturn(scene)
  return `published; the slowest /healthz took ${slowest.toFixed(0)} ms`
}

async function fewDescriptors(run: Run): Promise<string> {
  const scene = await begin(run, { through: ['sh', '-c', 'ulimit -n 160; exec "$@"', 'sh'] })
  const clients: RawClient[] = []
  for (let at = 0; at < 200; at++) clients.push(await RawClient.open(scene.url))
  await sleep(500)
  ensure(!scene.daemon.hasEnded, scene.daemon.story('ended'))
  for (const client of clients) client.socket.destroy()
  await ensureReturn(scene)
  return `alive with ${clients.length} idle connections; back when they are gone`
}

async function lockedDatabase(run: Run): Promise<string> {
  const scene = await begin(run)
  const other = new Libsql(join(scene.folder.dir, 'plimsoll.db'))
  other.exec('BEGIN IMMEDIATE')
  const words = await publishBad(scene, 'while-0')
  await ensureReads(scene)
  other.exec('ROLLBACK')
  other.close()
  await ensureReturn(scene)
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
  ensure(ended === 1 || ended === 2, program.story(`ended with ${ended}`))
  ensure(!/\n\s+at /.test(program.stderr), program.story('shows a stack'))
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
    if (shift === 0) await ensureReturn(scene)
    else {
      await publishGood(scene, 'long-ago')
      await ensureReads(scene)
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
  const copy = join(newPlace(run), 'copy')
  cpSync(scene.folder.dir, copy, { recursive: true })
  for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  breakIt(path)
  const outputs: string[] = []
  for (const words of [['serve', '--listen', '127.0.0.1:0'], ['verify']]) {
    const program = scene.folder.start(words)
    run.onEnd(() => program.kill())
    const ended = await Promise.race([program.ended, program.url().catch(() => program.ended)])
    ensure(typeof ended === 'number' && ended > 0, program.story(`goes on: ${ended}`))
    ensure(!/\n\s+at /.test(program.stderr), program.story('shows a stack'))
    outputs.push(lastLine(program.stderr || program.stdout))
  }
  // The operator restores a copy.
  rmSync(scene.folder.dir, { recursive: true })
  cpSync(copy, scene.folder.dir, { recursive: true })
  await scene.folder.verify()
  return outputs[0] ?? ''
}
