/**
 * Faults of the world around a registry: a disk that only reads, errors of the disk, a slow one,
 * missing permission, too few descriptors, a locked database, a clock that is years off. Writes are
 * refused in words, reads go on, the service returns by itself when the fault goes, and `verify`
 * finds nothing afterwards.
 */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqlite } from '../../generator/places/disk/sqlite-file.ts'
import { RawClient } from '../support/raw-client.ts'
import { ask, isSuccess, putVersion } from './driver/api.ts'
import { Calls, type Kind } from './faults/calls.ts'
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

const trials: Readonly<Record<string, (run: Run) => Promise<string>>> = {
  'read-only disk (EROFS)': run => withHook(run, 'EROFS'),
  'errors of the disk (EIO)': run => withHook(run, 'EIO'),
  'no more descriptors on disk operations (EMFILE)': run => withHook(run, 'EMFILE'),
  'slow disk, 200 ms each operation': slowDisk,
  'descriptors exhausted (ulimit -n 160)': fewDescriptors,
  'database locked by another process': lockedDatabase,
  'no permission to write': noPermission,
  'clock 20 years ahead, then back': clocks,
  'single failed reads of the database': run => singleCalls(run, 'read'),
  'single failed writes of the database': run => singleCalls(run, 'write'),
  'single failed syncs of the database': run => singleCalls(run, 'sync'),
}

/** How many calls of one kind fail, one at a time. */
const SINGLE_CALLS = 60

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
  const other = openSqlite(join(scene.folder.dir, 'plimsoll.db'))
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

/** One system call below SQLite fails at a time, while somebody publishes and others read. */
async function singleCalls(run: Run, kind: Kind): Promise<string> {
  const calls = new Calls(run)
  const scene = await begin(run, calls.manner)
  let failed = 0
  let refused = 0
  for (let at = 0; at < SINGLE_CALLS; at++) {
    calls.fail(kind, 'EIO', 'plimsoll.db', 1 + (at % 7))
    const name = `single-${at}`
    const reply = await putVersion(scene.url, scene.token, name, '1.0.0')
    await ask(`${scene.url}/api/v1/crates?q=single`)
    failed += calls.end()
    if (reply !== null && isSuccess(reply)) scene.names.push(name)
    else refused++
  }
  ensure(failed > SINGLE_CALLS / 5, `only ${failed} calls failed`)
  await ensureReturn(scene)
  return `${failed} failed, ${refused} publishes refused; the others are all there`
}
