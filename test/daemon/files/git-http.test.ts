import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { issuesOf } from '../../../daemon/http/log.ts'
import { app, path, put, TYPE } from '../../support/git-http.ts'
import { root } from '../../support/index-repository.ts'

describe('git over HTTP, request by request', () => {
  test('advertisements, their types and that nothing may keep them', async () => {
    const v0 = await app().request('/index.git/info/refs?service=git-upload-pack')
    assert.equal(v0.status, 200)
    assert.equal(v0.headers.get('content-type'), 'application/x-git-upload-pack-advertisement')
    assert.equal(v0.headers.get('cache-control'), 'no-cache, max-age=0, must-revalidate')
    const text = await v0.text()
    assert.ok(text.startsWith('001e# service=git-upload-pack\n0000'))
    // What libgit2 asks for, and gitoxide for a shallow index.
    const words = 'multi_ack_detailed side-band-64k ofs-delta include-tag shallow'
    for (const word of words.split(' ')) assert.ok(text.includes(` ${word} `), word)
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
    assert.equal((await readFile(calls, 'utf8')).split('\n').length - 1, 2)
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
      const bytes = await readFile(join(path, name))
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
      const head = await app().request(`/index.git/${name}`, { method: 'HEAD' })
      assert.equal(head.headers.get('content-length'), String(bytes.length))
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
    const gzip = { 'content-encoding': 'gzip' }
    const bomb = gzipSync(Buffer.alloc(50_000_000)).subarray(0, 10_000)
    assert.equal((await post('', { 'content-type': 'text/plain' })).status, 415)
    assert.equal((await post('x'.repeat(10_001))).status, 413)
    assert.equal((await post(bomb, gzip)).status, 413)
    assert.equal((await post(gzipSync('0000').subarray(0, 15), gzip)).status, 400)
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
    const broken = app({
      repositoryPath: join(root, 'nowhere'),
      onFailure: error => reported.push(error),
    })
    const counted: string[] = []
    const whole = new Hono().use(async (c, next) => {
      await next()
      counted.push(...issuesOf(c).map(({ code }) => code))
    })
    whole.route('/', broken)
    const answers = [
      await whole.request('/index.git/info/refs?service=git-upload-pack'),
      await whole.request('/index.git/git-upload-pack', {
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
    await whole.request('/index.git/info/refs?service=git-receive-pack')
    // For alerts, and the lines of the log.
    assert.deepEqual(counted, ['git_server_failed', 'git_server_failed', 'git_service_refused'])
  })
})
