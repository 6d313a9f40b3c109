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

/** A git that takes its time: it notes that it was started, and when it was told to stop. */
async function slowGit(): Promise<{ gitCommand: string; notes: () => Promise<string> }> {
  const [gitCommand, notes] = [join(root, `slow-git${serial++}`), join(root, `notes${serial++}`)]
  const script = `#!/bin/sh\ntrap 'echo stopped >> ${notes}; exit 143' TERM\necho started >> ${notes}\nwhile :; do sleep 0.05; done\n`
  await writeFile(gitCommand, script, { mode: 0o755 })
  return { gitCommand, notes: async () => await readFile(notes, 'utf8').catch(() => '') }
}

const count = (text: string, word: string): number => text.split(word).length - 1

// Most of it is waiting for limits of time.
describe('git over HTTP, under load', { concurrency: 3 }, () => {
  const body = '0000'
  const request = { method: 'POST', headers: { 'content-type': TYPE }, body }
  const from = (client: string) => ({
    ...request,
    headers: { ...request.headers, 'x-from': client },
  })
  const addressOf = (c: Context) => c.req.header('x-from') ?? ''

  test('one client has at most half of the places, and who waits behind it goes first', async () => {
    const slow = await slowGit()
    const options = {
      gitCommand: slow.gitCommand,
      addressOf,
      timeoutMs: 4_000,
      onFailure: () => {},
    }
    const shared = app({ ...options, maxConcurrent: 4, maxWaiting: 2 })
    const greedy = Array.from(
      { length: 3 },
      async () => await shared.request(PATH, from('2001:db8::1')),
    )
    await until(
      async () => count(await slow.notes(), 'started') === 2,
      () => 'not started 2 times',
    )
    const refused = await shared.request(PATH, from('2001:db8::2'))
    assert.equal(refused.status, 503, 'half of those who run and wait are of its network')
    assert.equal(refused.headers.get('retry-after'), '5')
    const others = ['b', 'c'].map(async client => await shared.request(PATH, from(client)))
    await until(
      async () => count(await slow.notes(), 'started') === 4,
      () => 'the others wait for the client that has its half',
    )
    assert.equal(count(await slow.notes(), 'stopped'), 0)
    for (const { status } of await Promise.all([...greedy, ...others])) assert.equal(status, 500)
    assert.equal(
      count(await slow.notes(), 'started'),
      5,
      'the third of the greedy one had its turn, too',
    )
  })

  test('git is stopped when its client goes away, and so is the wait for it', async t => {
    const slow = await slowGit()
    const here = await listen({ gitCommand: slow.gitCommand, maxConcurrent: 1 })
    t.after(() => here.server.close())
    const { port } = new URL(here.url)
    let [arrived, left] = [0, 0]
    here.server.on('request', (_, response) => {
      arrived++
      response.on('close', () => left++)
    })
    const head = `POST /index.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: ${TYPE}\r\nContent-Length: 4\r\n\r\n0000`
    const [first, second, third] = [1, 2, 3].map(() => connect(Number(port), '127.0.0.1'))
    first?.write(head)
    await until(
      async () => count(await slow.notes(), 'started') === 1,
      () => 'not started 1 times',
    )
    second?.write(head)
    third?.write(head)
    await until(
      () => arrived === 3,
      () => `${arrived} requests have arrived`,
    )
    second?.destroy()
    await until(
      () => left === 1,
      () => 'the second has not left',
    )
    first?.destroy()
    await until(
      async () => count(await slow.notes(), 'stopped') === 1,
      () => 'not stopped 1 times',
    )
    await until(
      async () => count(await slow.notes(), 'started') === 2,
      () => 'not started 2 times',
    )
    third?.destroy()
    await until(
      async () => count(await slow.notes(), 'stopped') === 2,
      () => 'not stopped 2 times',
    )
    assert.equal(count(await slow.notes(), 'started'), 2)
  })

  test('a client that leaves in the middle of a clone takes git with it', async t => {
    const wrapper = join(root, 'pack-git')
    const notes = join(root, 'pack-notes')
    await writeFile(wrapper, `#!/bin/sh\necho $$ > ${notes}\nexec yes 0005x\n`, { mode: 0o755 })
    const here = await listen({ gitCommand: wrapper })
    t.after(() => here.server.close())
    const abort = new AbortController()
    const response = await fetch(`${here.url}/git-upload-pack`, {
      ...request,
      signal: abort.signal,
    })
    const reader = response.body?.getReader()
    await reader?.read()
    const pid = Number(await readFile(notes, 'utf8'))
    assert.ok(isAlive(pid))
    abort.abort()
    await until(
      () => !isAlive(pid),
      () => 'git still runs',
    )
  })

  test('a body that does not arrive holds no process and is given up', async () => {
    const slow = await slowGit()
    const waiting = new ReadableStream({ pull: () => new Promise(() => {}) })
    const response = await app({ gitCommand: slow.gitCommand, bodyTimeoutMs: 100 }).request(
      new Request('http://x/index.git/git-upload-pack', {
        ...request,
        body: waiting,
        duplex: 'half',
      }),
    )
    assert.equal(response.status, 408)
    assert.equal(await slow.notes(), '')
  })

  test('bodies that do not arrive give way to whole requests', async () => {
    const crowded = app({ addressOf, maxConcurrent: 2, maxWaiting: 0 })
    const stuck = ['a', 'b'].map(client => {
      const waiting = new ReadableStream({ pull: () => new Promise(() => {}) })
      const init = { ...from(client), body: waiting, duplex: 'half' as const }
      return crowded.request(new Request(`http://x${PATH}`, init))
    })
    const whole = await crowded.request(PATH, from('c'))
    assert.notEqual(whole.status, 503)
    await whole.arrayBuffer()
    assert.equal((await stuck[0])?.status, 503)
    for (const client of ['d', 'e', 'f'])
      await (await crowded.request(PATH, from(client))).arrayBuffer()
  })

  test('git is stopped when its client takes nothing any more, and not while it takes a little', async t => {
    const wrapper = join(root, 'endless-git')
    const notes = join(root, 'endless-notes')
    await writeFile(wrapper, `#!/bin/sh\necho $$ >> ${notes}\nexec yes 0005x\n`, { mode: 0o755 })
    const here = await openServer(t, { requestSeconds: 2 })
    here.answer(app({ gitCommand: wrapper }).fetch)
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: ${TYPE}\r\nContent-Length: 4\r\n\r\n0000`
    const pids = async () =>
      (await readFile(notes, 'utf8').catch(() => '')).trim().split('\n').map(Number)
    const clients = [1, 2].map(() => connect(Number(new URL(here.url).port), '127.0.0.1').pause())
    for (const [i, client] of clients.entries()) {
      client.on('error', () => {}).write(head)
      await until(
        async () => ((await pids())[i] ?? 0) > 0,
        () => 'not started',
      )
    }
    const [idle = 0, slow = 0] = await pids()
    let taken = 0
    const taking = setInterval(() => {
      clients[1]?.read()
      taken++
    }, 100)
    t.after(() => clearInterval(taking))
    await until(
      () => !isAlive(idle),
      () => 'git still runs',
    )
    // As often as fits into more time than the other one had.
    const then = taken
    await until(
      () => taken > then + 30,
      () => 'nothing is taken',
    )
    assert.ok(isAlive(slow), 'the one whose client goes on taking')
    clients[1]?.destroy()
    await until(
      () => !isAlive(slow),
      () => 'git still runs',
    )
  })
})
