import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once as onceEvent } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { FileMutex, Lock } from '../../../../generator/places/locks/lock.ts'
import { Cleanup } from '../../../support/cleanup.ts'
import { isWaiting, settle } from '../../../support/event-loop.ts'
import { root } from '../../../support/plimsoll.ts'
import { until } from '../../../support/until.ts'
import { folderOf } from '../../../support/workplace.ts'

const LOCK = join(root, 'dist', 'generator', 'places', 'locks', 'lock.js')

test('a lock is held by one, says by whom, and is free again after release', t => {
  const path = join(folderOf(t), 'locks', 'serve.lock')
  const [first, second] = [new Lock(path), new Lock(path)]
  assert.equal(first.isHeld(), false)
  assert.equal(second.holder(), '')
  assert.equal(first.tryAcquire('process 1'), true)
  assert.equal(second.tryAcquire('process 2'), false)
  assert.deepEqual([first.isHeld(), second.isHeld()], [true, true])
  assert.equal(second.holder(), 'process 1')
  first.describe('process 1 at http://127.0.0.1:1')
  assert.equal(second.holder(), 'process 1 at http://127.0.0.1:1')
  first.release()
  first.release()
  assert.deepEqual([first.isHeld(), second.isHeld()], [false, false])
  assert.equal(second.tryAcquire('process 2'), true)
  second.release()
})

test('looking at a lock does not keep another from taking it', async t => {
  const path = join(folderOf(t), 'serve.lock')
  const lock = new Lock(path)
  lock.tryAcquire('make the file')
  lock.release()
  await program(
    t,
    `const lock = new Lock(${JSON.stringify(path)}); console.log('looking'); for (;;) { lock.isHeld(); await new Promise(setImmediate) }`,
  )
  for (let i = 0; i < 20; i++) {
    assert.equal(lock.tryAcquire('me'), true)
    lock.release()
  }
})

test('the work of one process goes one at a time and in order, failures included', async t => {
  const mutex = new FileMutex(join(folderOf(t), 'build.lock'))
  const log: string[] = []
  const turns = [1, 2, 3].map(number =>
    mutex.run(async () => {
      log.push(`${number} begins`)
      await settle()
      log.push(`${number} ends`)
      if (number === 2) throw new Error('two fails')
      return number
    }),
  )
  assert.deepEqual(
    (await Promise.allSettled(turns)).map(settled =>
      settled.status === 'fulfilled' ? settled.value : String(settled.reason),
    ),
    [1, 'Error: two fails', 3],
  )
  assert.deepEqual(log, ['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends'])
  await mutex.close()
  assert.equal(await mutex.run(async () => 'open again'), 'open again')
  await mutex.close()
})

test('between processes the work goes one at a time, too', async t => {
  const folder = folderOf(t)
  const [path, count] = [join(folder, 'build.lock'), join(folder, 'count')]
  writeFileSync(count, '0')
  // Each turn reads, waits and writes: two at once would lose a step.
  const steps = `
    const mutex = new FileMutex(${JSON.stringify(path)})
    for (let i = 0; i < 50; i++) await mutex.run(async () => {
      const before = Number(readFileSync(${JSON.stringify(count)}, 'utf8'))
      await new Promise(setImmediate)
      writeFileSync(${JSON.stringify(count)}, String(before + 1))
    })
    console.log('done')`
  const children = [program(t, steps), program(t, steps), program(t, steps)]
  await Promise.all(children)
  assert.equal(readFileSync(count, 'utf8'), '150')
})

test('a process with a long queue lets another in between', async t => {
  const path = join(folderOf(t), 'build.lock')
  const mutex = new FileMutex(path)
  let turns = 0
  let isOver = false
  // As a daemon under load: the next turn is always waiting already.
  const queue = async (): Promise<void> => {
    while (!isOver) {
      await mutex.run(async () => {
        turns++
        await settle()
      })
    }
  }
  const load = [queue(), queue(), queue()]
  const enough = join(folderOf(t), 'enough')
  const other = program(
    t,
    `const { existsSync } = await import('node:fs'); const mutex = new FileMutex(${JSON.stringify(path)}); for (let i = 0; i < 20 || !existsSync(${JSON.stringify(enough)}); i++) await mutex.run(async () => undefined); console.log('done')`,
  )
  // Neither starves, however fast the machine: the other ends only after the load has had turns.
  await until(
    () => turns > 10,
    () => `${turns} turns of the load`,
  )
  writeFileSync(enough, '')
  await other
  isOver = true
  await Promise.all(load)
  await mutex.close()
})

test('a mutex whose user was killed is free', async t => {
  const path = join(folderOf(t), 'build.lock')
  const child = await program(
    t,
    `void new FileMutex(${JSON.stringify(path)}).run(async () => { console.log('in'); await new Promise(() => setInterval(() => {}, 1000)) })`,
  )
  const mutex = new FileMutex(path)
  const result = mutex.run(async () => 'through')
  assert.ok(await isWaiting(result))
  child.kill('SIGKILL')
  assert.equal(await result, 'through')
  await mutex.close()
})

/** Runs a piece of code beside the test until it prints a line; it ends with the test at the latest. */
async function program(t: TestContext, code: string): Promise<ChildProcess> {
  const head = `import { readdirSync, readFileSync, writeFileSync } from 'node:fs'; import { Lock, FileMutex } from ${JSON.stringify(LOCK)};`
  const child = spawn(process.execPath, ['--input-type=module', '-e', `${head}${code}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = onceEvent(child, 'exit')
  new Cleanup(t).add(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await onceEvent(createInterface({ input: child.stdout }), 'line')
  return child
}
