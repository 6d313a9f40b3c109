import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ServerType } from '@hono/node-server'
import { app, listen, put, repository, TYPE } from '../../support/git-http.ts'
import { fresh, run } from '../../support/index-repository.ts'

let url = ''
let server: ServerType
before(async () => {
  ;({ server, url } = await listen())
})
after(() => server.close())

/** What git prints in a clone. */
const read = async (clone: string, ...args: string[]): Promise<string> =>
  (await run('git', ['-C', clone, ...args])).stdout.trim()

/** What git prints and sends. */
const git = async (...args: string[]): Promise<string> => {
  const env = { ...process.env, GIT_TRACE_CURL: '1', GIT_TRACE_PACKET: '1' }
  const { stdout, stderr } = await run('git', args, { env, maxBuffer: 1 << 26 })
  return `${stdout}${stderr}`
}

describe('git over HTTP, with git itself', () => {
  for (const version of ['0', '1', '2']) {
    test(`clone, fetch and shallow clone over protocol ${version}`, async () => {
      const [whole, shallow] = [fresh(), fresh()]
      const protocol = ['-c', `protocol.version=${version}`]
      const trace = await git(...protocol, 'clone', '-q', url, whole)
      assert.match(trace, version === '2' ? /packet:\s+clone< version 2/ : /git-upload-pack/)
      assert.equal(await read(whole, 'rev-parse', 'HEAD'), await repository.head())
      const next = await put('3/a/abc', `${version} ${Date.now()}\n`)
      const fetched = await git('-C', whole, ...protocol, 'pull', '--no-rebase')
      assert.match(fetched, /have [0-9a-f]{40}/)
      assert.equal(await read(whole, 'rev-parse', 'HEAD'), next)
      await git(...protocol, 'clone', '-q', '--depth=1', url, shallow)
      assert.equal(await read(shallow, 'rev-list', '--count', 'HEAD'), '1')
      await git('-C', shallow, ...protocol, 'fetch', '-q', '--deepen=2')
      assert.equal(await read(shallow, 'rev-list', '--count', 'HEAD'), '3')
      await read(shallow, 'fsck', '--strict')
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
      assert.equal(await read(clone, 'rev-parse', 'origin/master'), id)
    }
  })

  test('a dumb client reads the same repository as files', async () => {
    const clone = fresh()
    const trace = await run('git', ['clone', '-q', url, clone], {
      env: { ...process.env, GIT_SMART_HTTP: '0', GIT_TRACE_CURL: '1' },
    })
    assert.match(trace.stderr, /objects\/info\/packs/)
    assert.doesNotMatch(trace.stderr, /POST/)
    assert.equal(await read(clone, 'rev-parse', 'HEAD'), await repository.head())
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
})
