import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { verifyPassword } from '../../sample-app/examples/security/password.ts'
import { until } from '../support/until.ts'
import { exchange } from './support/exchange.ts'
import { BOUNDARY, MULTIPART, URLENCODED } from './support/forms.ts'
import { runProgram, startProgram } from './support/program.ts'

/** The program of `npm run sample`; compiled tests stand in `dist/`. */
const START = fileURLToPath(new URL('../../../scripts/sample.mjs', import.meta.url))

test('misuse is exit 1 and says what is taken', async () => {
  const cases: readonly (readonly [args: string[], reason: RegExp, PORT?: string])[] = [
    [['--example', 'nope'], /'nope' is invalid\. Allowed choices are root, path-params,/],
    [['--example', 'constructor'], /'constructor' is invalid/],
    [['--bad'], /unknown option '--bad'/],
    [['extra'], /too many arguments/],
    [['--port', '65536'], /port should be >= 0 and < 65536\. Received type number \(65536\)/],
    [['--port', 'x'], /port should be >= 0 and < 65536\. Received type number \(NaN\)/],
    [['--cert', 'a.pem'], /--cert and --key go together/],
    [['--key', 'a.key'], /--cert and --key go together/],
    [['--host', ''], /--host takes a name or an address/],
    [[], /port should be .* Received type number \(NaN\)/, 'x'],
    [[], /port should be .* Received type number \(NaN\)/, ''],
    [['--port', ' '], /port should be .* Received type number \(NaN\)/],
  ]
  for (const [args, reason, PORT] of cases) {
    const { code, stdout, stderr } = await runProgram(args, PORT === undefined ? {} : { PORT })
    assert.deepEqual([code, stdout], [1, ''], stderr)
    assert.match(stderr, reason)
  }
})

test('--help explains on stdout', async () => {
  const { code, stdout } = await runProgram(['--help'])
  assert.equal(code, 0)
  assert.match(stdout, /^Usage: npm run sample -- /)
})

test('a port that is taken is exit 1 with the reason', async () => {
  const first = await startProgram(['--example', 'root'])
  const { code, stderr } = await runProgram([
    '--example',
    'root',
    '--port',
    new URL(first.url).port,
  ])
  await first.stop()
  assert.equal(code, 1)
  assert.match(stderr, /EADDRINUSE/)
})

test('demo values are warned of by name, where an example needs them; given ones are used', async () => {
  const warnings = {
    'global-dependencies': 'SAMPLE_X_TOKEN, SAMPLE_X_KEY',
    security: 'SAMPLE_USERS',
    cookies: undefined,
  }
  for (const [name, demo] of Object.entries(warnings)) {
    const program = await startProgram(['--example', name])
    await program.stop()
    const warning = `warning: demo values are in use for ${demo}; anyone can look them up\n`
    assert.equal(program.stderr(), demo ? warning : '')
  }
  const all = await startProgram([])
  await all.stop()
  assert.match(
    all.stderr(),
    /^warning: demo values are in use for SAMPLE_X_TOKEN, SAMPLE_X_KEY, SAMPLE_USERS, SAMPLE_JWT_SECRET;/,
  )
  const { stdout } = await runProgram(['--hash-password'], {}, 'pass word\n')
  assert.equal(await verifyPassword('pass word', stdout.trim()), true)
  const user = { username: 'u', email: 'e', full_name: 'f', disabled: false }
  const env = {
    SAMPLE_X_TOKEN: 'one',
    SAMPLE_X_KEY: 'two',
    SAMPLE_JWT_SECRET: 'three',
    SAMPLE_USERS: JSON.stringify([{ ...user, hashed_password: stdout.trim() }]),
  }
  const own = await startProgram([], env)
  const headers = { 'X-Token': 'one', 'X-Key': 'two' }
  const items = await exchange(own.url, { path: '/examples/global-dependencies/items/', headers })
  const body = 'username=u&password=pass+word'
  const token = await exchange(own.url, {
    method: 'POST',
    path: '/token',
    headers: URLENCODED,
    body,
  })
  const me = await exchange(own.url, { path: '/users/me', headers: { Authorization: 'Bearer u' } })
  assert.equal(await own.stop(), 0)
  assert.deepEqual([items.status, token.status, JSON.parse(me.text)], [200, 200, user])
  assert.equal(own.stderr(), '')
})

test('users that cannot be read stop the start', async () => {
  const user = { username: '', email: 'e', full_name: 'f', disabled: false, hashed_password: 'x' }
  for (const SAMPLE_USERS of ['{', JSON.stringify([user])]) {
    const { code, stderr } = await runProgram(['--port', '0'], { SAMPLE_USERS })
    assert.equal(code, 1)
    assert.match(stderr, /^SAMPLE_USERS: /)
  }
})

test('the address that is printed answers, whatever the example', async () => {
  const program = await startProgram(['--example', 'cookies'])
  const response = await fetch(program.url)
  assert.equal(await program.stop(), 0)
  assert.deepEqual([response.status, new URL(response.url).pathname], [200, '/docs'])
})

test('a stream ends its connection for a client that wants it', async () => {
  const program = await startProgram(['--example', 'streaming'])
  const headers = { Connection: 'close' }
  const asked = request(new URL('/events', program.url), { headers }).end()
  const [response] = await once(asked, 'response')
  assert.equal(response.headers.connection, 'close')
  assert.match(await text(response), /^event: tick/)
  assert.equal(await program.stop(), 0)
})

test('SIGTERM lets a running request finish, takes no new one, and exits 0', async () => {
  const program = await startProgram(['--example', 'uploads'])
  const agent = new Agent({ keepAlive: true })
  const { sent, answer } = openUpload(program.url, agent)
  await exchange(program.url, { path: '/' })
  const stopped = program.stop()
  const { port, hostname } = new URL(program.url)
  for (let open = true; open; ) {
    const socket = connect(Number(port), hostname)
    open = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
  }
  sent.end(`data\r\n--${BOUNDARY}--`)
  const [response] = await answer
  assert.equal(response.headers.connection, 'close')
  const closed = once(response.socket, 'close')
  assert.deepEqual(JSON.parse(await text(response)), { filenames: 'a', type: 'UploadFile' })
  // The server ends the connection itself: no idle one keeps it.
  await closed
  assert.equal(await stopped, 0)
  agent.destroy()
})

test('a second SIGTERM does not cut a running request, and SIGHUP stops like it', async () => {
  const program = await startProgram(['--example', 'uploads'])
  const { sent, answer } = openUpload(program.url)
  await exchange(program.url, { path: '/' })
  program.process.kill('SIGHUP')
  const stopped = program.stop()
  sent.end(`data\r\n--${BOUNDARY}--`)
  const [response] = await answer
  assert.equal(response.statusCode, 200)
  response.resume()
  assert.equal(await stopped, 0)
})

test('the server ends when its starter is killed', async () => {
  const starter = spawn(process.execPath, [START, '--example', 'root', '--port', '0'])
  const [line] = await once(createInterface(starter.stdout), 'line')
  const url = String(line).replace('listening on ', '')
  assert.equal((await exchange(url, { path: '/' })).status, 200)
  starter.kill('SIGKILL')
  await until(
    async () =>
      exchange(url, { path: '/' }).then(
        () => false,
        () => true,
      ),
    () => 'the server goes on without its starter',
  )
})

/** Begins an upload that has not ended yet. */
function openUpload(url: string, agent: Agent | false = false) {
  const sent = request(new URL('/uploadfile/', url), {
    method: 'POST',
    headers: MULTIPART,
    agent,
  })
  sent.write(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`)
  return { sent, answer: once(sent, 'response') }
}
