import type { Context, MiddlewareHandler } from 'hono'
import { type Logger, pino, stdSerializers } from 'pino'
import { type Issue, Refusal } from '../../core/error/error.ts'
import type { Paint } from '../../generator/cli/console/terminal.ts'
import { systemRefusal } from '../../generator/places/disk/fault.ts'
import type { ClientAddress } from './client-address.ts'
import { logText } from './log-text.ts'

export interface LogSink {
  write(line: string): unknown
}

/** `json`: a JSON object per line, for programs; `text`: for people. */
export type LogFormat = 'json' | 'text'

/** Anything that looks like a token, such as in a path or in an error of a library. */
const SECRET = /plim_[0-9A-Za-z]{8,}/g

/** Opens the log. It removes tokens and escapes control characters; `paint` colors its text. */
export function openLog(
  level: string,
  sink: LogSink,
  format: LogFormat = 'json',
  paint?: Paint,
): Logger {
  const render = format === 'text' ? (line: string) => logText(line, paint) : escaped
  const write = (line: string) => void sink.write(render(line.replace(SECRET, 'plim_…')))
  // The log has the stack of unexpected errors only.
  const err = (error: Error) => {
    const refusal = expected(error)
    return refusal ? { type: 'Refusal', message: refusal.message } : stdSerializers.err(error)
  }
  return pino({ level, serializers: { err } }, { write })
}

/** Returns the `Refusal` of an error that has to be expected; null for a fault of this program. */
function expected(error: unknown): Refusal | null {
  return error instanceof Refusal ? error : systemRefusal(error, 'operator')
}

/** Logs a failure: expected kinds as a warning, all others as an error. */
export function logFailure(log: Logger, error: unknown, words: string, fields: object = {}): void {
  log[expected(error) ? 'warn' : 'error']({ err: error, ...fields }, words)
}

interface LogFields {
  readonly user?: string
  readonly crate?: string
  readonly version?: string
}

const SUBJECT = 'subject'

/** Adds the actor, the crate or the version to the log line of a request. */
export function recordSubject(c: Context, subject: LogFields): void {
  c.set(SUBJECT, { ...(c.get(SUBJECT) as LogFields | undefined), ...subject })
}

/**
 * Logs a line per request, without headers that may hold tokens. The line of a change has the
 * address of the client; the line of a refused one is a warning with the reasons.
 */
export function requestLog(log: Logger, addressOf: ClientAddress | null): MiddlewareHandler {
  return async (c, next) => {
    const start = performance.now()
    // Not later: the client may have left by then.
    const address = addressOf?.(c)
    await next()
    const { method, path } = c.req
    const ms = Math.round((performance.now() - start) * 10) / 10
    const agent = c.req.header('user-agent')
    const issues = issuesOf(c)
    const refused = issues.length > 0 ? issues.map(issue => issue.message).join('; ') : undefined
    // After the handler, these are the parameters of its route.
    const named = { crate: c.req.param('name'), version: c.req.param('version') }
    const subject = { ...named, ...(c.get(SUBJECT) as LogFields | undefined) }
    const line = { method, path, status: c.res.status, ms, agent, ...subject }
    const level = addressOf === null ? 'debug' : refused === undefined ? 'info' : 'warn'
    log[level]({ ...line, address, refused }, 'request')
  }
}

/** Escapes characters that JSON keeps and a terminal obeys, such as U+009B, the 8-bit CSI. */
function escaped(line: string): string {
  return line.replace(/(?!\n$)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, character =>
    [...Array(character.length).keys()]
      .map(at => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

const ISSUES = 'issues'

/** Records why a request was refused, for `/metrics` and the log. */
export function recordIssues(c: Context, issues: readonly Issue[]): void {
  c.set(ISSUES, [...issuesOf(c), ...issues])
}

/** Returns the issues of a request; empty if it was not refused. */
export function issuesOf(c: Context): readonly Issue[] {
  return (c.get(ISSUES) as readonly Issue[] | undefined) ?? []
}
