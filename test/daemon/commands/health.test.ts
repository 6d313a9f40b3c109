import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeCertificate } from '../../support/certificate.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { closeServer, freePort, listen } from '../../support/loopback.ts'
import { plimsollHere, serveHere } from '../../support/program.ts'
import { scratch } from '../../support/scratch.ts'

test('health asks the daemon at its own address: any host, TLS, a socket; it says why none is well', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const dir = join(folder, 'registry')
  assert.equal((await plimsollHere(['init', '--dir', dir])).code, 0)
  const health = async (address: string, env: NodeJS.ProcessEnv = {}) => {
    const ended = await plimsollHere(['health', '--dir', dir], { PLIMSOLL_LISTEN: address, ...env })
    return [ended.code, ended.stdout + ended.stderr]
  }
  const { url } = await serveHere(cleanup, dir)
  const { host, port } = new URL(url)
  assert.deepEqual(await health(host), [0, 'ok\n'])
  assert.deepEqual(await health(`0.0.0.0:${port}`), [0, 'ok\n'])

  const answer: RequestListener = ({ url }, response) => {
    response.writeHead(url === '/healthz' ? 200 : 404).end('ok\n')
  }
  const closing = (server: Server) => cleanup.add(() => closeServer(server))
  const socket = createServer(answer).listen(join(folder, 'socket'))
  closing(socket)
  await once(socket, 'listening')
  assert.deepEqual(await health(`unix:${join(folder, 'socket')}`), [0, 'ok\n'])
  // As a daemon's certificate: of a name that is not this address.
  const pair = makeCertificate(folder, 'crates.example.com', '-addext', 'subjectAltName=DNS:a.b')
  const files = { cert: readFileSync(pair.cert), key: readFileSync(pair.key) }
  const secure = createTlsServer(files, answer)
  closing(secure as unknown as Server)
  const tls = { PLIMSOLL_TLS_CERT: pair.cert, PLIMSOLL_TLS_KEY: pair.key }
  assert.deepEqual(await health(new URL(await listen(secure)).host, tls), [0, 'ok\n'])

  const complaint = (address: string, reason: string) => [
    1,
    `error: the daemon at ${address} does not answer as a healthy one (${reason}); look at its log, or start it with \`plimsoll serve\`\n`,
  ]
  const failing = createServer((_, response) => response.writeHead(503).end('not ready\n'))
  closing(failing)
  const { host: failed } = new URL(await listen(failing))
  assert.deepEqual(await health(failed), complaint(failed, 'status 503'))
  const nobody = `127.0.0.1:${await freePort()}`
  const refused = `connect ECONNREFUSED ${nobody}`
  assert.deepEqual(await health(nobody), complaint(nobody, refused))
})
