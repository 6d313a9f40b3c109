import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type ServerType, serve } from '@hono/node-server'
import { Hono } from 'hono'
import { type GitHttpOptions, gitHttp } from '../../daemon/git-http.ts'
import { type IndexRepository, openIndexRepository } from '../../generator/index.ts'

const run = promisify(execFile)
const TYPE = 'application/x-git-upload-pack-request'
let root = ''
let path = ''
let url = ''
let repository: IndexRepository
let server: ServerType
let serial = 0
const failures: unknown[] = []

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'plimsoll-git-http-'))
  path = join(root, 'index.git')
  repository = await openIndexRepository({ path, engine: 'git' })
  for (let i = 0; i < 5; i++) await put('ca/rg/cargo', `${i}\n`)
  ;({ server, url } = await listen({ repositoryPath: path, onFailure: error => failures.push(error) }))
})
after(async () => {
  server.close()
  await repository.close()
  await rm(root, { recursive: true, force: true })
  assert.deepEqual(failures, [])
})

const put = async (name: string, text: string): Promise<string | null> =>
  await repository.commit([{ path: name, bytes: Buffer.from(text) }], { message: `${text}\n`, time: new Date() })
const fresh = (): string => join(root, `clone${serial++}`)
const git = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await run('git', args, {
    env: { ...process.env, GIT_TRACE_CURL: '1', GIT_TRACE_PACKET: '1' },
  })
  return `${stdout}${stderr}`
}
const app = (options: Partial<GitHttpOptions> = {}): Hono => {
  const handle = gitHttp({ repositoryPath: path, onFailure: error => failures.push(error), ...options })
  return new Hono().all('/index.git/*', c => handle(c))
}

async function listen(options: GitHttpOptions): Promise<{ server: ServerType; url: string }> {
  const made = serve({ fetch: app(options).fetch, port: 0, hostname: '127.0.0.1' })
  await once(made, 'listening')
  const address = made.address()
  return { server: made, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/index.git` }
}

/** A git that takes its time: it notes that it was started, and when it was told to stop. */
async function slowGit(): Promise<{ gitCommand: string; notes: () => Promise<string> }> {
  const [gitCommand, notes] = [join(root, `slow-git${serial++}`), join(root, `notes${serial++}`)]
  const script = `#!/bin/sh\ntrap 'echo stopped >> ${notes}; exit 143' TERM\necho started >> ${notes}\nwhile :; do sleep 0.05; done\n`
  await writeFile(gitCommand, script, { mode: 0o755 })
  return { gitCommand, notes: async () => await readFile(notes, 'utf8').catch(() => '') }
}

async function until(what: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await what()) return
    await new Promise(resolve => setTimeout(resolve, 25))
  }
  assert.fail('it never happened')
}

const count = (text: string, word: string): number => text.split(word).length - 1

describe('git over HTTP, with git itself', () => {
  for (const version of ['0', '1', '2']) {
    test(`clone, fetch and shallow clone over protocol ${version}`, async () => {
      const [whole, shallow] = [fresh(), fresh()]
      const trace = await git('-c', `protocol.version=${version}`, 'clone', '-q', url, whole)
      assert.match(trace, version === '2' ? /packet:\s+clone< version 2/ : /git-upload-pack/)
      assert.equal((await git('-C', whole, 'rev-parse', 'HEAD')).trim().split('\n')[0], await repository.head())
      const next = await put('3/a/abc', `${version} ${Date.now()}\n`)
      const fetched = await git('-C', whole, '-c', `protocol.version=${version}`, 'pull', '--no-rebase')
      assert.match(fetched, /have [0-9a-f]{40}/)
      assert.equal((await run('git', ['-C', whole, 'rev-parse', 'HEAD'])).stdout.trim(), next)
      await git('-c', `protocol.version=${version}`, 'clone', '-q', '--depth=1', url, shallow)
      assert.equal((await run('git', ['-C', shallow, 'rev-list', '--count', 'HEAD'])).stdout.trim(), '1')
      await git('-C', shallow, '-c', `protocol.version=${version}`, 'fetch', '-q', '--deepen=2')
      assert.equal((await run('git', ['-C', shallow, 'rev-list', '--count', 'HEAD'])).stdout.trim(), '3')
      await run('git', ['-C', shallow, 'fsck', '--strict'])
    })
  }

  test('requests that are packed, and requests that are sent in pieces', async () => {
    const clone = fresh()
    await git('clone', '-q', url, clone)
    // Commits the server does not have make the client's list of haves long, and git gzips a body above 1 KB.
    const stream = ['reset refs/heads/mine\n']
    for (let i = 0; i < 300; i++)
      stream.push(`commit refs/heads/mine\ncommitter x <x> ${2_000_000_000 + i} +0000\ndata 1\nx\n`)
    const importing = run('git', ['-C', clone, 'fast-import', '--quiet'])
    importing.child.stdin?.end(stream.join(''))
    await importing
    for (const [buffer, header] of [
      [1 << 20, /=> Send header: content-encoding: gzip/i],
      [2048, /=> Send header: transfer-encoding: chunked/i],
    ] as const) {
      const id = await put('1/z', `${buffer}\n`)
      const options = ['-c', 'protocol.version=0', '-c', `http.postBuffer=${buffer}`]
      assert.ok(header.test(await git('-C', clone, ...options, 'fetch', 'origin')), String(header))
      assert.equal((await run('git', ['-C', clone, 'rev-parse', 'origin/master'])).stdout.trim(), id)
    }
  })

  test('a dumb client reads the same repository as files', async () => {
    const clone = fresh()
    const trace = await run('git', ['clone', '-q', url, clone], {
      env: { ...process.env, GIT_SMART_HTTP: '0', GIT_TRACE_CURL: '1' },
    })
    assert.match(trace.stderr, /objects\/info\/packs/)
    assert.doesNotMatch(trace.stderr, /POST/)
    assert.equal((await run('git', ['-C', clone, 'rev-parse', 'HEAD'])).stdout.trim(), await repository.head())
  })

  test('a client that asks for the head of a moment ago gets it', async () => {
    const old = await repository.head()
    await put('1/y', 'y\n')
    const line = `want ${old} ofs-delta\n`
    const body = `${(line.length + 4).toString(16).padStart(4, '0')}${line}00000009done\n`
    const response = await app().request('/index.git/git-upload-pack', {
      method: 'POST',
      headers: { 'content-type': TYPE },
      body,
    })
    const answer = Buffer.from(await response.arrayBuffer())
    assert.equal(answer.subarray(0, 12).toString('latin1'), '0008NAK\nPACK')
  })

  test('pushing is refused in words the pusher sees', async () => {
    const clone = fresh()
    await git('clone', '-q', url, clone)
    await assert.rejects(
      run('git', ['-C', clone, 'push', '-q', url, 'HEAD:refs/heads/other']),
      /403|not permitted|read-only/,
    )
  })
})

describe('git over HTTP, request by request', () => {
  test('advertisements, their types and that nothing may keep them', async () => {
    const v0 = await app().request('/index.git/info/refs?service=git-upload-pack')
    assert.equal(v0.status, 200)
    assert.equal(v0.headers.get('content-type'), 'application/x-git-upload-pack-advertisement')
    assert.equal(v0.headers.get('cache-control'), 'no-cache, max-age=0, must-revalidate')
    const text = await v0.text()
    assert.ok(text.startsWith('001e# service=git-upload-pack\n0000'))
    // What libgit2 asks for, and gitoxide for a shallow index.
    for (const word of ['multi_ack_detailed', 'side-band-64k', 'ofs-delta', 'include-tag', 'shallow'])
      assert.ok(text.includes(` ${word} `), word)
    assert.ok(text.includes(' symref=HEAD:refs/heads/master '))
    const v2 = await app().request('/index.git/info/refs?service=git-upload-pack', {
      headers: { 'git-protocol': 'version=2:x' },
    })
    assert.match(await v2.text(), /^000eversion 2\n/)
  })

  test('one advertisement serves everyone until the head moves', async () => {
    const wrapper = join(root, 'counting-git')
    const calls = join(root, 'calls')
    await writeFile(wrapper, `#!/bin/sh\necho call >> ${calls}\nexec git "$@"\n`, { mode: 0o755 })
    const counted = app({ gitCommand: wrapper })
    const ask = async (): Promise<string> =>
      await (await counted.request('/index.git/info/refs?service=git-upload-pack')).text()
    const [first, second] = await Promise.all([ask(), ask()])
    assert.equal(first, second)
    const id = await put('1/x', `${Date.now()}`)
    assert.ok((await ask()).includes(id ?? '-'))
    assert.equal(count(await readFile(calls, 'utf8'), 'call'), 2)
  })

  test('receive-pack and unknown services are refused', async () => {
    for (const [method, where] of [
      ['GET', 'info/refs?service=git-receive-pack'],
      ['GET', 'info/refs?service='],
      ['GET', 'info/refs?service=git-upload-archive'],
      ['GET', 'info/refs?service=../../bin/sh'],
      ['POST', 'git-receive-pack'],
    ] as const) {
      const response = await app().request(`/index.git/${where}`, { method })
      assert.equal(response.status, 403, where)
      assert.match(await response.text(), /read-only over HTTP/)
    }
  })

  test('only the files of a repository that readers need can be read', async () => {
    const pack = (await readFile(join(path, 'objects/info/packs'), 'utf8')).slice(2, 52).trim()
    const types = {
      HEAD: 'text/plain; charset=utf-8',
      'info/refs': 'text/plain; charset=utf-8',
      'objects/info/packs': 'text/plain; charset=utf-8',
      [`objects/pack/${pack}`]: 'application/x-git-packed-objects',
      [`objects/pack/${pack.replace(/pack$/, 'idx')}`]: 'application/x-git-packed-objects-toc',
    }
    for (const [name, type] of Object.entries(types)) {
      const response = await app().request(`/index.git/${name}`)
      assert.equal(response.status, 200, name)
      assert.equal(response.headers.get('content-type'), type)
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), await readFile(join(path, name)))
      const head = await app().request(`/index.git/${name}`, { method: 'HEAD' })
      assert.equal(head.headers.get('content-length'), String((await readFile(join(path, name))).length))
    }
    await writeFile(join(path, 'objects/pack/secret.pack'), 'x')
    for (const name of [
      'config',
      'packed-refs',
      'refs/heads/master',
      'hooks/',
      'objects/',
      'objects/info/alternates',
      'objects/pack/secret.pack',
      `objects/pack/..%2f${pack}`,
      `objects/pack/${pack}%00`,
      `objects/%2e%2e/${'a'.repeat(38)}`,
      '..%2fconfig',
      'HEAD/',
      'HEAD%2f..%2fconfig',
      `objects/aa/${'b'.repeat(38)}`,
      'git-upload-pack',
    ]) {
      const response = await app().request(`/index.git/${name}`)
      assert.equal(response.status, 404, name)
    }
  })

  test('a request that is no upload-pack request is refused before git sees it', async () => {
    const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
      app({ maxBodyBytes: 10_000 }).request('/index.git/git-upload-pack', {
        method: 'POST',
        headers: { 'content-type': TYPE, ...headers },
        body,
      })
    assert.equal((await post('', { 'content-type': 'text/plain' })).status, 415)
    assert.equal((await post('x'.repeat(10_001))).status, 413)
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    assert.equal((await post(bomb.subarray(0, 10_000), { 'content-encoding': 'gzip' })).status, 413)
    assert.equal((await post(gzipSync('0000').subarray(0, 15), { 'content-encoding': 'gzip' })).status, 400)
    assert.equal((await post('0000', { 'content-encoding': 'br' })).status, 400)
  })

  test('what git does not understand is the client’s mistake, not the server’s', async () => {
    for (const [protocol, body] of [
      ['', 'garbage'],
      ['', '0011want ../../x\n'],
      ['version=2', '0013command=explode\n0000'],
      ['version=2', '000bx=y=z\n\n0000'],
    ] as const) {
      const response = await app().request('/index.git/git-upload-pack', {
        method: 'POST',
        headers: { 'content-type': TYPE, 'git-protocol': protocol },
        body,
      })
      assert.equal(response.status, 400, `${protocol} ${body}: ${await response.text()}`)
    }
    const unknown = `0032want ${'1'.repeat(40)}\n00000009done\n`
    const response = await app().request('/index.git/git-upload-pack', {
      method: 'POST',
      headers: { 'content-type': TYPE },
      body: unknown,
    })
    assert.match(await response.text(), /^[0-9a-f]{4}ERR upload-pack: not our ref/)
  })

  test('a failure of git’s own is a 500 that says little, and is reported', async () => {
    const reported: unknown[] = []
    const broken = app({ repositoryPath: join(root, 'nowhere'), onFailure: error => reported.push(error) })
    const answers = [
      await broken.request('/index.git/info/refs?service=git-upload-pack'),
      await broken.request('/index.git/git-upload-pack', {
        method: 'POST',
        headers: { 'content-type': TYPE },
        body: '0000',
      }),
    ]
    for (const response of answers) {
      assert.equal(response.status, 500)
      assert.doesNotMatch(await response.text(), new RegExp(root))
    }
    assert.equal(reported.length, 2)
  })
})

describe('git over HTTP, under load', () => {
  const body = '0000'
  const request = { method: 'POST', headers: { 'content-type': TYPE }, body }

  test('beyond the places that run and wait, clients are told to come back', async () => {
    const slow = await slowGit()
    const crowded = app({
      gitCommand: slow.gitCommand,
      maxConcurrent: 2,
      maxWaiting: 1,
      timeoutMs: 1_500,
      onFailure: () => {},
    })
    const inside = Array.from({ length: 3 }, async () => await crowded.request('/index.git/git-upload-pack', request))
    await until(async () => count(await slow.notes(), 'started') === 2)
    const refused = await crowded.request('/index.git/git-upload-pack', request)
    assert.equal(refused.status, 503)
    assert.equal(refused.headers.get('retry-after'), '5')
    // The time limit ends the first two, and then the third has its turn.
    assert.deepEqual(
      (await Promise.all(inside)).map(response => response.status),
      [500, 500, 500],
    )
    assert.equal(count(await slow.notes(), 'started'), 3)
    assert.equal((await crowded.request('/index.git/git-upload-pack', request)).status, 500)
  })

  test('git is stopped when its client goes away, and so is the wait for it', async () => {
    const slow = await slowGit()
    const here = await listen({ repositoryPath: path, gitCommand: slow.gitCommand, maxConcurrent: 1 })
    const { port } = new URL(here.url)
    const head = `POST /index.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: ${TYPE}\r\nContent-Length: 4\r\n\r\n0000`
    const [first, second, third] = [1, 2, 3].map(() => connect(Number(port), '127.0.0.1'))
    first?.write(head)
    await until(async () => count(await slow.notes(), 'started') === 1)
    second?.write(head)
    third?.write(head)
    await new Promise(resolve => setTimeout(resolve, 100))
    second?.destroy()
    await new Promise(resolve => setTimeout(resolve, 100))
    first?.destroy()
    await until(async () => count(await slow.notes(), 'stopped') === 1)
    await until(async () => count(await slow.notes(), 'started') === 2)
    third?.destroy()
    await until(async () => count(await slow.notes(), 'stopped') === 2)
    assert.equal(count(await slow.notes(), 'started'), 2)
    here.server.close()
  })

  test('a client that leaves in the middle of a clone takes git with it', async () => {
    const wrapper = join(root, 'pack-git')
    const notes = join(root, 'pack-notes')
    await writeFile(
      wrapper,
      `#!/bin/sh\ntrap 'echo stopped >> ${notes}; exit 143' TERM\nwhile :; do printf 0005x; done\n`,
      { mode: 0o755 },
    )
    const here = await listen({ repositoryPath: path, gitCommand: wrapper })
    const abort = new AbortController()
    const response = await fetch(`${here.url}/git-upload-pack`, { ...request, signal: abort.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    abort.abort()
    await until(async () => count(await readFile(notes, 'utf8').catch(() => ''), 'stopped') === 1)
    here.server.close()
  })

  test('a body that does not arrive holds no process and is given up', async () => {
    const slow = await slowGit()
    const waiting = new ReadableStream({ pull: () => new Promise(() => {}) })
    const response = await app({ gitCommand: slow.gitCommand, bodyTimeoutMs: 100 }).request(
      new Request('http://x/index.git/git-upload-pack', { ...request, body: waiting, duplex: 'half' }),
    )
    assert.equal(response.status, 408)
    assert.equal(await slow.notes(), '')
  })
})
