import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { Hono } from 'hono'
import { listen } from '../../sample-app/examples/apps/serve.ts'
import { makeCertificate } from '../support/certificate.ts'
import { exchange } from './support/exchange.ts'
import { runProgram, startProgram } from './support/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'sample-tls-'))
const { cert, key } = makeCertificate(folder, 'one')
const other = makeCertificate(folder, 'other')
const ca = readFileSync(cert, 'utf8')
const server = await startProgram(['--example', 'https', '--cert', cert, '--key', key])
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

test('the message comes over TLS to who trusts the certificate', async () => {
  assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  const { status, text } = await exchange(server.url, { path: '/https', ca })
  assert.deepEqual([status, JSON.parse(text)], [200, { message: 'Hello over HTTPS' }])
})

test('who does not trust it refuses it', async () => {
  await assert.rejects(exchange(server.url, { path: '/https' }), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  await assert.rejects(
    exchange(server.url, { path: '/https', ca: readFileSync(other.cert, 'utf8') }),
    Error,
  )
})

test('a redirect stays on https', async () => {
  const { status, headers } = await exchange(server.url, { path: '/https/', ca })
  assert.deepEqual([status, headers.location], [307, `${server.url}/https`])
})

test('plain HTTP on the TLS port gets no HTTP answer', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write('GET /https HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const answer = await text(socket).catch((error: NodeJS.ErrnoException) => error.code)
  assert.equal(String(answer).includes('HTTP/'), false)
})

test('files that TLS cannot be served with stop the start and say why', async () => {
  const garbage = join(folder, 'garbage.pem')
  const empty = join(folder, 'empty.pem')
  writeFileSync(garbage, 'not PEM')
  writeFileSync(empty, '')
  const rsa = join(folder, 'rsa.key')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(rsa, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const cases: readonly (readonly [cert: string, key: string, reason: RegExp])[] = [
    [join(folder, 'none.pem'), key, /ENOENT.*none\.pem/],
    [cert, join(folder, 'none.key'), /ENOENT.*none\.key/],
    [folder, key, /EISDIR/],
    [garbage, key, /garbage\.pem and .*no start line/],
    [empty, key, /empty\.pem and .*no start line/],
    [cert, garbage, /garbage\.pem: /],
    [cert, empty, /empty\.pem: /],
    [key, cert, /no start line/],
    [cert, other.key, /other\.key\.pem: .*key values mismatch/],
    [cert, rsa, /rsa\.key: .*key values mismatch/],
  ]
  for (const [cert, key, reason] of cases) {
    const place = { host: '127.0.0.1', port: 0, cert, key }
    await assert.rejects(listen(new Hono(), place), ({ message }: Error) => {
      assert.match(message, /^cannot serve TLS with /)
      assert.match(message, reason)
      return true
    })
  }
  const ended = await runProgram(['--port', '0', '--cert', garbage, '--key', key])
  assert.deepEqual([ended.code, ended.stdout], [1, ''])
  assert.match(ended.stderr, /^cannot serve TLS with /)
})
