import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './loopback.ts'
import { until } from './until.ts'

/** A PostgreSQL server, over its Unix socket without passwords. */
export interface TestServer {
  /** Returns the URL of a database over the Unix socket; it may not exist. */
  readonly url: (database: string) => string
  /** Creates an empty database, and returns its URL. */
  readonly create: (database: string) => Promise<string>
  /** The port on 127.0.0.1; without TLS there is none behind it. */
  readonly port: number
  /** Stops it at once, as a crash does; `start` continues with the same data. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  /** Stops it and removes its data. */
  readonly close: () => Promise<void>
}

/** A run that demands PostgreSQL must not skip its suites. */
const isRequired = process.env.PLIMSOLL_REQUIRE_POSTGRES === '1'

/**
 * Returns why no PostgreSQL server can be started here; null if one can. Throws instead where
 * PLIMSOLL_REQUIRE_POSTGRES=1 says that the suites have to run.
 */
export function postgresMissing(): string | null {
  if (programs() !== null) return null
  const why =
    'there is no PostgreSQL on this machine: apt install postgresql, or npm run setup:postgres'
  if (isRequired) throw new Error(why)
  console.error(`not run: ${why}`)
  return why
}

/** The programs that `npm run setup:postgres` has fetched; `scripts/` says where they are. */
const fetched = process.env.TEST_POSTGRES_PROGRAMS ?? null

/** Returns the folder of Debian's newest PostgreSQL, or of another; null without any. */
function programs(): string | null {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const folders = versions.map(version => join(root, version, 'bin'))
  return folders.find(folder => existsSync(join(folder, 'initdb'))) ?? fetched
}

interface Owner {
  readonly uid?: number
  readonly gid?: number
}

/** The server refuses to run as root. */
function account(): Owner {
  if (process.getuid?.() !== 0) return {}
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody']))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

const SETTINGS = `
listen_addresses = ''
max_connections = 300
shared_buffers = 64MB
autovacuum_naptime = 10s
`

/** Settings that lose data when the machine fails, but not when the server does. */
const UNSYNCED = `
fsync = off
full_page_writes = off
`

/** A server's special options. */
interface Wishes {
  /** It also listens on 127.0.0.1, where it demands TLS and a password. */
  readonly tls?: Certificate
  /** Its data survive the machine: measurements count the syncs. */
  readonly isDurable?: boolean
}

/** Starts a server in a temporary folder. */
export async function startPostgres(wishes: Wishes = {}): Promise<TestServer> {
  const bin = programs()
  if (bin === null) throw new Error('there is no PostgreSQL')
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-pg-'))
  try {
    return await startIn(dir, bin, wishes)
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    throw error
  }
}

async function startIn(dir: string, bin: string, wishes: Wishes): Promise<TestServer> {
  const owner = account()
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(dir, owner.uid, owner.gid)
  const data = join(dir, 'data')
  // As on a server in another language than English: the records must not depend on it.
  const options = ['-D', data, '-U', 'plimsoll', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8']
  execFileSync(join(bin, 'initdb'), [...options, '--no-sync'], { ...owner, stdio: 'ignore' })
  const port = await freePort()
  const place = `unix_socket_directories = '${dir}'\n`
  const { tls, isDurable } = wishes
  const more = tls ? `${secured(data, tls, owner)}port = ${port}\n` : ''
  const settings = [SETTINGS, isDurable ? '' : UNSYNCED, place, more].join('')
  writeFileSync(join(data, 'postgresql.auto.conf'), settings)
  const at = tls ? `localhost:${port}` : 'localhost'
  const url = (database: string) => `postgres://plimsoll@${at}/${database}?host=${dir}`
  let stop = async () => {}
  const start = async () => {
    const server = spawn(join(bin, 'postgres'), ['-D', data], { ...owner, stdio: 'ignore' })
    const ended = new Promise(resolve => server.on('exit', resolve))
    stop = async () => {
      server.kill('SIGQUIT')
      await ended
    }
    try {
      await until(
        () => {
          assert.equal(server.exitCode, null, 'PostgreSQL has ended')
          return answers(url('postgres'))
        },
        () => `PostgreSQL does not start in ${dir}`,
      )
    } catch (error) {
      await stop()
      throw error
    }
  }
  await start()
  return {
    url,
    create: async database => {
      await execute(url('postgres'), `CREATE DATABASE ${database}`)
      return url(database)
    },
    port,
    start,
    kill: () => stop(),
    close: async () => {
      await stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Files of a certificate and its key. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Sets up the accepted connections; returns the settings for it. The server must own its key. */
function secured(data: string, { cert, key }: Certificate, owner: Owner): string {
  for (const [from, name] of [
    [cert, 'server.crt'],
    [key, 'server.key'],
  ] as const) {
    const path = join(data, name)
    copyFileSync(from, path)
    chmodSync(path, 0o600)
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid)
  }
  const rules = 'local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n'
  writeFileSync(join(data, 'pg_hba.conf'), rules)
  return "listen_addresses = '127.0.0.1'\nssl = on\npassword_encryption = 'scram-sha-256'\n"
}

async function answers(url: string): Promise<boolean> {
  try {
    await execute(url, 'SELECT 1')
    return true
  } catch {
    return false
  }
}

/** Executes statements in a database, as its administrator. */
export async function execute(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const { pathname, port, searchParams } = new URL(url)
  const client = new Client({
    ...(port !== '' && { port: Number(port) }),
    host: searchParams.get('host') ?? '',
    user: 'plimsoll',
    database: pathname.slice(1),
  })
  try {
    await client.connect()
    return (await client.query(sql)).rows as Record<string, unknown>[]
  } finally {
    await client.end().catch(() => undefined)
  }
}
