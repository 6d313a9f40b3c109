import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import type { InspectParts } from '../../../core/release/inspect.ts'
import { Sandbox } from '../../../generator/sandbox/sandbox.ts'
import { SandboxError } from '../../../generator/sandbox/thread.ts'

const program = new URL('../../support/sandbox-program.js', import.meta.url)

/** A sandbox whose threads do what a path says. */
function sandboxOf(t: TestContext, size = 1) {
  const sandbox = new Sandbox({ program, size, limits: { seconds: 1, megabytes: 64 } })
  t.after(() => sandbox.close())
  const run = (path: string): Promise<unknown> =>
    sandbox.run('inspect', { content: path, parts: {} as InspectParts })
  return { sandbox, run }
}

test('a task gets plain data and gives plain data; nothing of the environment is there', async t => {
  const { run } = sandboxOf(t)
  assert.deepEqual(await run('x'), { content: 'x', env: undefined })
})

for (const [path, reason, message] of [
  ['spin', 'time', 'it takes more than 1 seconds of processor time'],
  ['backtrack', 'time', 'it takes more than 1 seconds of processor time'],
  ['grow', 'memory', 'it takes more than 64 MiB of memory'],
] as const) {
  test(`a task that takes too much ends alone, and the next one has a new thread: ${path}`, async t => {
    const { run } = sandboxOf(t)
    const other = run('other')
    await assert.rejects(run(path), (error: unknown) => {
      assert.ok(error instanceof SandboxError)
      assert.deepEqual([error.reason, error.message], [reason, message])
      return true
    })
    assert.deepEqual(await other, { content: 'other', env: undefined })
    assert.deepEqual(await run('next'), { content: 'next', env: undefined })
  })
}

test('a thread begins before its first task, once', async t => {
  const { sandbox, run } = sandboxOf(t)
  const threads = () => readdirSync('/proc/self/task').length
  const before = threads()
  sandbox.prepare()
  assert.equal(threads(), before + 1)
  sandbox.prepare()
  assert.equal(threads(), before + 1)
  assert.deepEqual(await run('x'), { content: 'x', env: undefined })
})

test('a refusal crosses the threads with all its objections', async t => {
  const { run } = sandboxOf(t)
  await assert.rejects(run('refuse'), (error: unknown) => {
    assert.ok(error instanceof Refusal)
    assert.deepEqual(
      error.issues.map(issue => issue.code),
      ['crate_unknown', 'route_unknown'],
    )
    assert.equal(error.retryAfter, 7)
    return true
  })
})

test('what nobody foresaw is a failure with its stack, and the thread goes on', async t => {
  const { run } = sandboxOf(t)
  for (const path of ['fail', 'fail']) {
    await assert.rejects(run(path), (error: unknown) => {
      assert.ok(error instanceof SandboxError)
      assert.equal(error.reason, 'failure')
      assert.match(error.message, /TypeError: it is not iterable\n.*sandbox-program/)
      return true
    })
  }
})

test('a thread that ends by itself fails its task only', async t => {
  const { run } = sandboxOf(t)
  await assert.rejects(run('end'), SandboxError)
  assert.deepEqual(await run('next'), { content: 'next', env: undefined })
})

test('one thread is left to tasks that people wait for', async t => {
  const { sandbox, run } = sandboxOf(t)
  const hold = new Int32Array(new SharedArrayBuffer(4))
  const others = [1, 2].map(() => sandbox.run('readme', hold as never))
  assert.deepEqual(await run('urgent'), { content: 'urgent', env: undefined })
  Atomics.store(hold, 0, 1)
  Atomics.notify(hold, 0)
  await Promise.all(others)
})

test('tasks beyond what may wait are refused', async t => {
  const { run } = sandboxOf(t)
  const all = await Promise.allSettled(Array.from({ length: 1010 }, () => run('x')))
  const refused = all.filter(answer => answer.status === 'rejected')
  // Two run at once.
  assert.equal(refused.length, 8)
  for (const { reason } of refused)
    assert.ok(reason instanceof Refusal && reason.has('sandbox_busy'))
})

test('clients take turns: one task of each runs, and few wait', async t => {
  const sandbox = new Sandbox({ program, size: 0, limits: { seconds: 5, megabytes: 64 } })
  t.after(() => sandbox.close())
  const done: string[] = []
  const used: number[] = []
  const run = async (content: string, id: number) => {
    const client = {
      id: `user ${id}`,
      onUsed: (milliseconds: number) => void used.push(milliseconds),
    }
    await sandbox.run('inspect', { content, parts: {} as InspectParts }, client)
    done.push(content)
  }
  const many = Array.from({ length: 66 }, (_, at) => run(`mallory ${at}`, 1))
  const all = await Promise.allSettled([...many, run('alice', 2), run('bob', 3)])
  assert.deepEqual(done.slice(0, 4), ['mallory 0', 'alice', 'bob', 'mallory 1'])
  const refused = all.flatMap(answer => (answer.status === 'rejected' ? [answer.reason] : []))
  assert.ok(refused.length === 1 && refused[0] instanceof Refusal)
  assert.equal(
    refused[0].message,
    '64 publishes of this account are already waiting to be checked; publish again when they are answered',
  )
  assert.equal(used.length, 67)
})

test('a thread is free while a client has more tasks', async t => {
  const { sandbox, run } = sandboxOf(t)
  const client = { id: 'user 1', onUsed: () => undefined }
  const spin = () => sandbox.run('inspect', { content: 'spin', parts: {} as InspectParts }, client)
  const spins = Promise.allSettled([spin(), spin()])
  await Promise.race([run('other'), spins.then(() => assert.fail('the other task waited'))])
  await spins
})

test('threads that have nothing to do keep no process alive', () => {
  const sandbox = new URL('../../../generator/sandbox/sandbox.js', import.meta.url)
  const code = `
    const { Sandbox } = await import('${sandbox}')
    const sandbox = new Sandbox({ program: new URL('${program}') })
    console.log(JSON.stringify(await sandbox.run('inspect', { content: 'x' })))`
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', code])
  assert.equal(out.toString(), '{"content":"x"}\n')
})
