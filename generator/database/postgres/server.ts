import { type ClientBase, Pool, type PoolConfig } from 'pg'
import { refuse } from '../../../core/error/error.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { readNamedSync } from '../../places/disk/files.ts'
import { types } from './values.ts'

/** How to reach a PostgreSQL server, and how long to wait for it. */
export type ServerSettings = Settings['database'] & { readonly url: string }

const CONNECT_MS = 5000

/** How much longer than the server's own limit a client waits for an answer. */
const ANSWER_MS = 5000

/** Takes off the limits that older servers do not know, and would refuse; has commits synced. */
const ADAPTED = `SELECT set_config(name, CASE setting WHEN 'off' THEN 'on' ELSE '0' END, false)
  FROM pg_settings WHERE name IN ('transaction_timeout', 'idle_session_timeout')
    OR name = 'synchronous_commit' AND setting = 'off'`

/** Returns a pool of at most `max` connections; `more` replaces settings of theirs. */
export function poolOf(settings: ServerSettings, max: number, more: PoolConfig = {}): Pool {
  const config = { ...connectionOf(settings), ...more }
  const session = sessionOf(config)
  const options = session.map(([name, text]) => `-c ${name}=${text.replace(' ', '\\ ')}`).join(' ')
  // A pooler may have left the options out.
  const again = [...session.map(([name, text]) => `SET ${name} = '${text}'`), ADAPTED].join(';')
  const onConnect = (client: ClientBase) => client.query(again)
  const pool = new Pool({ ...config, options, onConnect, max, types })
  // A connection that ends while nobody uses it leaves the pool; the next use opens another one.
  pool.on('error', () => undefined)
  // An error on a busy connection surfaces in its query.
  pool.on('connect', client => client.on('error', () => undefined))
  return pool
}

/** Returns what a session relies on, whatever the defaults are; `pg` leaves out a limit of 0. */
function sessionOf(config: PoolConfig): [name: string, text: string][] {
  const limits = [
    'statement_timeout',
    'lock_timeout',
    'idle_in_transaction_session_timeout',
  ] as const
  return [
    ...limits.map((limit): [string, string] => [limit, `${config[limit] || 0}`]),
    ['default_transaction_isolation', 'read committed'],
    ['standard_conforming_strings', 'on'],
    ['array_nulls', 'on'],
    ['DateStyle', 'ISO'],
    ['extra_float_digits', '1'],
    ['TimeZone', 'UTC'],
  ]
}

/** Returns how `pg` connects; `statement_seconds` = 0 sets no limit. */
function connectionOf(settings: ServerSettings): PoolConfig {
  const { statement_seconds, lock_seconds, url } = settings
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  const limit = statement_seconds * 1000
  return {
    host: host.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    ...(username !== '' && { user: decodeURIComponent(username) }),
    ...passwordOf(settings, decodeURIComponent(password)),
    database: decodeURIComponent(pathname.slice(1)),
    ssl: tlsOf(settings, host),
    application_name: 'plimsoll',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    allowExitOnIdle: true,
    statement_timeout: limit,
    lock_timeout: lock_seconds * 1000,
    // A process that stands still in a transaction must not stop the writers of the others.
    idle_in_transaction_session_timeout: limit,
    ...(limit > 0 && { query_timeout: limit + ANSWER_MS }),
  }
}

/** The file may change: it is read for each connection. */
function passwordOf(settings: ServerSettings, password: string): Pick<PoolConfig, 'password'> {
  const { password_file } = settings
  if (password_file !== null) return { password: () => textOf(password_file).trim() }
  return password === '' ? {} : { password }
}

/** Returns whether a host is this machine; `/` begins the folder of a Unix socket. */
function isLocal(host: string): boolean {
  return host.startsWith('/') || /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host)
}

function tlsOf({ sslmode, ca_file }: ServerSettings, host: string): PoolConfig['ssl'] {
  const mode = sslmode === 'auto' ? (isLocal(host) ? 'disable' : 'verify-full') : sslmode
  if (mode === 'disable') return false
  const ca = ca_file === null ? {} : { ca: textOf(ca_file) }
  if (mode === 'require') return { ...ca, rejectUnauthorized: false }
  return { ...ca, ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }) }
}

function textOf(path: string): string {
  try {
    return readNamedSync(path)
  } catch (error) {
    const { message } = error as Error
    return refuse('database_denied', { reason: `${path} cannot be read: ${message}` })
  }
}
