import { issue, Refusal } from '../../../core/error/error.ts'

/** Error codes of the operating system for a server that cannot be reached, or is gone. */
const UNREACHABLE = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/**
 * PostgreSQL's codes for a connection that is refused or ended: exceptions of connections, too many
 * of them, idle for too long in a transaction or session, shutdown, crash, start.
 */
const ENDED = /^(?:08...|53300|25P0[34]|57P0[1235])$/

/** Messages of `pg` itself for a connection that is gone. */
const GONE =
  /^(?:Connection terminated|Client has encountered a connection error|Query read timeout|timeout exceeded when trying to connect|timeout expired)/

/** Returns whether an error means that the connection is lost, or that there is none. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', message, syscall } = error as NodeJS.ErrnoException
  if (syscall !== undefined || error instanceof AggregateError) return UNREACHABLE.has(code)
  return ENDED.test(code) || GONE.test(message)
}

type Fault =
  | 'database_conflict'
  | 'database_locked'
  | 'database_slow'
  | 'storage_server_failing'
  | 'storage_server_full'

const FAULTS = new Map<string, Fault>([
  ['40001', 'database_conflict'],
  ['53100', 'storage_server_full'],
  ['58030', 'storage_server_failing'],
  ['55P03', 'database_locked'],
  ['40P01', 'database_locked'],
  ['57014', 'database_slow'],
])

/** PostgreSQL's codes for a server that does not take writes: a standby, or set so. */
const READ_ONLY = '25006'

/** PostgreSQL's codes for a wrong password, user or database, and for missing rights. */
const DENIED = /^(?:28...|3D000|42501|ERR_TLS.*|.*CERT.*|UNABLE_TO_.*)$/

/** Messages of `pg` itself for a server without TLS, and for a missing password. */
const UNSUITABLE =
  /^(?:The server does not support SSL connections|There was an error establishing an SSL connection|SASL: SCRAM-SERVER-FIRST-MESSAGE: client password )/

/** Returns the error to throw for one of `pg`: a `Refusal` if operators can do something about it. */
export function failure(error: unknown): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const reason = message || code
  const because = { cause: error }
  if (isLost(error)) return new Refusal([issue('database_away', { reason })], because)
  if (code === READ_ONLY) return new Refusal([issue('storage_readonly', { reason })], because)
  if (DENIED.test(code) || UNSUITABLE.test(message))
    return new Refusal([issue('database_denied', { reason })], because)
  const kind = FAULTS.get(code)
  return kind ? new Refusal([issue(kind, { reason })], because) : error
}
