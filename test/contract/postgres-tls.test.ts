// Mirrors generator/database/postgres/server.ts: TLS and passwords on a real server.
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import type { ServerSettings } from '../../generator/database/postgres/server.ts'
import { value } from '../../generator/database/statement.ts'
import { makeCertificate } from '../support/certificate.ts'
import { Cleanup } from '../support/cleanup.ts'
import { serverSettings } from '../support/engine.ts'
import { execute, postgresMissing, startPostgres, type TestServer } from '../support/postgres.ts'
import { plimsollHere } from '../support/program.ts'
import { scratch } from '../support/scratch.ts'

const skip = postgresMissing() ?? false
const SECRET = 'correct horse: "battery" staple'
let server: TestServer
let folder: string
let authority: string
let stranger: string
const cleanup = new Cleanup({ after })

before(async () => {
  if (skip !== false) return
  folder = scratch(cleanup)
  const ours = makeCertificate(folder)
  authority = ours.cert
  stranger = makeCertificate(folder, 'other').cert
  server = await startPostgres({ tls: ours })
  cleanup.add(() => server.close())
  // Only over the Unix socket without a password.
  await execute(server.url('postgres'), `ALTER USER plimsoll PASSWORD '${SECRET}'`)
  await execute(server.url('postgres'), 'CREATE DATABASE records')
})

/** A file with this content; `name` distinguishes those of one test. */
function file(content: string, name = 'password'): string {
  const path = join(folder, name)
  writeFileSync(path, content, { mode: 0o600 })
  return path
}

/** Settings for the server over TCP, with the right password. */
function settings(more: Partial<ServerSettings> & { readonly host?: string } = {}): ServerSettings {
  const { host = '127.0.0.1', ...rest } = more
  const url = `postgres://plimsoll@${host}:${server.port}/records`
  return { ...serverSettings(url), password_file: file(`${SECRET}\n`), ...rest }
}

/** Opens the database and returns whether its session is encrypted. */
async function encrypted(chosen: ServerSettings): Promise<boolean> {
  const database = await openPostgres(chosen)
  try {
    const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    return (await value(database, sql)) === 1
  } finally {
    await database.close()
  }
}

/** Expects that opening is refused in words that match, and without the password. */
async function refused(
  chosen: ServerSettings,
  reason: RegExp,
  code: 'database_denied' | 'database_away' = 'database_denied',
): Promise<void> {
  await assert.rejects(openPostgres(chosen), error => {
    assert.ok(error instanceof Refusal && error.has(code), String(error))
    assert.match(error.message, reason)
    assert.ok(!error.message.includes(SECRET) && !error.message.includes('horse'))
    return true
  })
}

/** Sets variables of this process until the test ends. */
function environment(t: TestContext, variables: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(variables)) {
    const before = process.env[name]
    process.env[name] = text
    t.after(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }
}

test('every mode of TLS encrypts, and checks what it says', { skip }, async () => {
  assert.equal(await encrypted(settings({ sslmode: 'verify-full', ca_file: authority })), true)
  const byName = { host: 'localhost', ca_file: authority }
  assert.equal(await encrypted(settings({ ...byName, sslmode: 'verify-ca' })), true)
  assert.equal(await encrypted(settings({ sslmode: 'require' })), true)
  assert.equal(await encrypted(settings({ sslmode: 'require', ca_file: stranger })), true)
})

test('a certificate for another name or of somebody else is refused in words', {
  skip,
}, async () => {
  const chosen = settings({ host: 'localhost', sslmode: 'verify-full', ca_file: authority })
  await refused(chosen, /localhost.*127\.0\.0\.1/)
  for (const sslmode of ['verify-full', 'verify-ca'] as const) {
    await refused(settings({ sslmode, ca_file: stranger }), /certificate/)
    await refused(settings({ sslmode }), /certificate/)
  }
})

test('a server that demands TLS refuses a session without it', { skip }, async () => {
  for (const sslmode of ['disable', 'auto'] as const)
    await refused(settings({ sslmode }), /no encryption/)
})

test('a server without TLS is refused where it is demanded', { skip }, async t => {
  const root = server.url('postgres')
  const set = async (state: 'on' | 'off') => {
    await execute(root, `ALTER SYSTEM SET ssl = ${state}`)
    await execute(root, 'SELECT pg_reload_conf()')
  }
  t.after(() => set('on'))
  await set('off')
  for (const sslmode of ['require', 'verify-ca', 'verify-full'] as const)
    await refused(settings({ sslmode, ca_file: authority }), /does not support SSL/)
})

test('a wrong password, none and an empty one are refused, and never told', { skip }, async () => {
  const tls = { sslmode: 'verify-full', ca_file: authority } as const
  const wrong = `${SECRET}!`
  await refused(settings({ ...tls, password_file: file(wrong, 'wrong') }), /authentication failed/)
  await refused(settings({ ...tls, password_file: null }), /password/)
  await refused(settings({ ...tls, password_file: file('\n', 'empty') }), /password/)
})

test('files that are named and not there are refused by their names', { skip }, async () => {
  const gone = join(folder, 'gone')
  await refused(settings({ sslmode: 'require', password_file: gone }), /gone/)
  await refused(settings({ sslmode: 'verify-full', ca_file: gone }), /gone/)
})

test('the password comes from the URL, PGPASSWORD or a password file', { skip }, async t => {
  const plain = settings({ sslmode: 'verify-full', ca_file: authority, password_file: null })
  const url = plain.url.replace('plimsoll@', `plimsoll:${encodeURIComponent(SECRET)}@`)
  assert.equal(await encrypted({ ...plain, url }), true)
  await t.test('PGPASSWORD', async t => {
    environment(t, { PGPASSWORD: SECRET })
    assert.equal(await encrypted(plain), true)
  })
  await t.test('PGPASSFILE', async t => {
    const line = `127.0.0.1:${server.port}:records:plimsoll:${SECRET.replaceAll(':', '\\:')}\n`
    environment(t, { PGPASSFILE: file(`# ours\n*:1:*:*:no\n${line}`, 'pgpass') })
    assert.equal(await encrypted(plain), true)
  })
})

test('a password that changes in its file is used for the next connection', { skip }, async t => {
  const chosen = settings({ sslmode: 'verify-full', ca_file: authority })
  const database = await openPostgres(chosen)
  t.after(() => database.close())
  const root = server.url('postgres')
  await execute(root, "ALTER USER plimsoll PASSWORD 'next'")
  t.after(() => execute(root, `ALTER USER plimsoll PASSWORD '${SECRET}'`))
  writeFileSync(join(folder, 'password'), 'next\n')
  await execute(
    root,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plimsoll'",
  )
  // A session that was ended says so once.
  await value(database, 'SELECT 1').catch(error => assert.ok(error instanceof Refusal))
  assert.equal(await value(database, 'SELECT 1'), 1)
})

test('commands take all of it from settings, and show no password', { skip }, async () => {
  const dir = join(folder, 'registry')
  const env = {
    PLIMSOLL_REGISTRY_BASE_URL: 'https://crates.example',
    PLIMSOLL_DATABASE_URL: settings().url.replace('plimsoll@', 'plimsoll:not-this-one@'),
    PLIMSOLL_DATABASE_SSLMODE: 'verify-full',
    PLIMSOLL_DATABASE_CA_FILE: authority,
    PLIMSOLL_DATABASE_PASSWORD_FILE: file(`${SECRET}\n`),
  }
  const made = await plimsollHere(['init', '--dir', dir], env)
  assert.equal(made.code, 0, made.stderr)
  const shown = await plimsollHere(['settings', '--dir', dir], env)
  assert.equal(shown.code, 0)
  assert.doesNotMatch(shown.stdout, /not-this-one|horse/)
  rmSync(env.PLIMSOLL_DATABASE_PASSWORD_FILE)
  writeFileSync(env.PLIMSOLL_DATABASE_PASSWORD_FILE, 'wrong')
  const { code, stderr } = await plimsollHere(['status', '--dir', dir], env)
  assert.notEqual(code, 0)
  assert.match(stderr, /the database server refuses this registry \(password authentication failed/)
  assert.doesNotMatch(stderr, /wrong|not-this-one|horse/)
})
