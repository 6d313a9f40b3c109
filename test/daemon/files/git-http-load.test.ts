import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Context } from 'hono'
import { isAlive } from '../../support/alive.ts'
import { app, listen, TYPE } from '../../support/git-http.ts'
import { root } from '../../support/index-repository.ts'
import { openServer } from '../../support/open-server.ts'
import { until } from '../../support/until.ts'

const PATH = '/index.git/git-upload-pack'
let serial = 0

/** Stand-ins for git: one that takes its time, and one that sends without an end; both take notes. */
const SLOW = (log: string) => `trap 'echo stopped >> ${log}; exit 143' TERM
echo started >> ${log}
while :; do sleep 0.05; done`
const ENDLESS = (log: string) => `echo $$ >> ${log}\nexec yes 0005x`

async function fakeGit(script: (log: string) => string) {
  const [gitCommand, log] = [join(root, `git${serial++}`), join(root, `notes${serial++}`)]
  await writeFile(gitCommand, `#!/bin/sh\n${script(log)}\n`, { mode: 0o755 })
  const logged = async () =>
    (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(line => line !== '')
  /** Waits for so many notes of a word. */
  const isNoted = (count: number, word: string) =>
    until(
      async () => (await logged()).filter(line => line === word).length === count,
      () => `not ${word} ${count} times`,
    )
  return { gitCommand, noted: logged, isNoted }
}

/** Waits for the end of a process. */
const ends = (pid: number) => until(() => !isAlive(pid), 'git still runs')

/** A request as bytes. */
const REQUEST = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: ${TYPE}\r\nContent-Length: 4\r\n\r\n0000`

// Most of it is waiting for limits of time.
describe('git over HTTP, under load', { concurrency: 3 }, () => {
  const body = '0000'
  const request = { method: 'POST', headers: { 'content-type': TYPE }, body }
  const from = (client: string) => ({
    ...request,
    headers: { ...request.headers, 'x-from': client },
  })
  const addressOf = (c: Context) => c.req.header('x-from') ?? ''

  test('git is stopped when its client goes away, and so is the wait for it', async t => {
    const git = await fakeGit(SLOW)
    const here = await listen({ gitCommand: git.gitCommand, maxConcurrent: 1 })
    t.after(() => here.server.close())
    let [arrived, left] = [0, 0]
    here.server.on('request', (_, response) => {
      arrived++
      response.on('close', () => left++)
    })
    const client = () => connect(Number(new URL(here.url).port), '127.0.0.1')
    const [first, second, third] = [client(), client(), client()]
    first.write(REQUEST)
    await git.isNoted(1, 'started')
    second.write(REQUEST)
    third.write(REQUEST)
    await until(
      () => arrived === 3,
      () => `${arrived} requests have arrived`,
    )
    second.destroy()
    await until(() => left === 1, 'the second has not left')
    first.destroy()
    await git.isNoted(1, 'stopped')
    await git.isNoted(2, 'started')
    third.destroy()
    await git.isNoted(2, 'stopped')
    assert.equal((await git.noted()).length, 4)
  })

  test('a client that leaves in the middle of a clone takes git with it', async t => {
    const { gitCommand, noted: logged } = await fakeGit(ENDLESS)
    const here = await listen({ gitCommand })
    t.after(() => here.server.close())
    const abort = new AbortController()
    const init = { ...request, signal: abort.signal }
    const response = await fetch(`${here.url}/git-upload-pack`, init)
    await response.body?.getReader().read()
    const pid = Number((await logged())[0])
    assert.ok(isAlive(pid))
    abort.abort()
    await ends(pid)
  })

  test('a body that does not arrive holds no process and is given up', async () => {
    const { gitCommand, noted: logged } = await fakeGit(SLOW)
    const waiting = new ReadableStream({ pull: () => new Promise(() => {}) })
    const init = { ...request, body: waiting, duplex: 'half' as const }
    const response = await app({ gitCommand, bodyTimeoutMs: 100 }).request(
      new Request(`http://x${PATH}`, init),
    )
    assert.equal(response.status, 408)
    assert.deepEqual(await logged(), [])
  })

  test('bodies that do not arrive give way to whole requests', async () => {
    const crowded = app({ addressOf, maxConcurrent: 2, maxWaiting: 0 })
    const bodies = ['a', '2001:db8::1'].map(client => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const init = { ...from(client), body: readable, duplex: 'half' as const }
      const answer = crowded.request(new Request(`http://x${PATH}`, init))
      return { answer, end: () => writable.close() }
    })
    const [first, second] = bodies
    // Of the same network as the second, whose share it has.
    const whole = await crowded.request(PATH, from('2001:db8::2'))
    assert.notEqual(whole.status, 503)
    await whole.arrayBuffer()
    const gone = await second?.answer
    assert.deepEqual([gone?.status, gone?.headers.get('retry-after')], [503, '10'])
    for (const client of ['d', 'e', 'f'])
      await (await crowded.request(PATH, from(client))).arrayBuffer()
    await first?.end()
    assert.notEqual((await first?.answer)?.status, 503)
  })

  test('git is stopped when its client takes nothing any more, and not while it takes a little', async t => {
    const { gitCommand, noted: logged } = await fakeGit(ENDLESS)
    const here = await openServer(t, { requestSeconds: 0.1 })
    here.answer(app({ gitCommand }).fetch)
    const clients = [1, 2].map(() => connect(Number(new URL(here.url).port), '127.0.0.1').pause())
    for (const [i, client] of clients.entries()) {
      client.on('error', () => {}).write(REQUEST)
      await until(async () => (await logged()).length > i, 'not started')
    }
    const [idle = 0, slow = 0] = (await logged()).map(Number)
    let taken = 0
    const taking = setInterval(() => {
      clients[1]?.read()
      taken++
    }, 100)
    t.after(() => clearInterval(taking))
    await ends(idle)
    // As often as fits into more time than the other one had.
    const then = taken
    await until(() => taken > then + 30, 'nothing is taken')
    assert.ok(isAlive(slow), 'the one whose client goes on taking')
    clients[1]?.destroy()
    await ends(slow)
  })
})
