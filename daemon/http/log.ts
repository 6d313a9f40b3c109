import type { Context, MiddlewareHandler } from 'hono'
import { type Logger, pino, stdSerializers } from 'pino'
import { quotedText } from '../../core/error/catalog.ts'
import { type Issue, Refusal } from '../../core/error/error.ts'
import type { Paint } from '../../generator/cli/console/terminal.ts'
import { systemRefusal } from '../../generator/places/disk/fault.ts'
import type { ClientAddress } from './client-address.ts'

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
  const err = (error: unknown) => {
    const refusal = expected(error)
    if (refusal) return { type: 'Refusal', message: refusal.message }
    return error instanceof Error
      ? stdSerializers.err(error)
      : { type: typeof error, message: String(error) }
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

type Of = 'method' | 'path' | 'agent' | 'user' | 'crate' | 'version' | 'address' | 'refused' | 'id'

interface LogRecord extends Readonly<Partial<Record<Of, string>>> {
  readonly level: number
  readonly time: number
  readonly msg: string
  readonly status?: number
  readonly ms?: number
  readonly err?: LoggedError
}

interface LoggedError {
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly aggregateErrors?: readonly LoggedError[]
}

/** What all lines of a process have in common, and what lines say in their own words. */
const COMMON = 'level time pid hostname msg err method path'.split(' ')
const OF_REQUESTS = [...COMMON, ...'status ms agent user crate version address refused'.split(' ')]
const OF_ERRORS = ['type', 'message', 'stack', 'aggregateErrors']

/** Returns the other facts of a record, such as `, signal=SIGTERM`. */
function others(record: object, said: readonly string[]): string {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const shown = Object.entries(record).filter(([name]) => !said.includes(name))
  return shown.map(([name, value]) => `, ${name}=${text(value)}`).join('')
}

function errorsOf(err: LoggedError | undefined): readonly LoggedError[] {
  return err === undefined ? [] : [err, ...(err.aggregateErrors ?? []).flatMap(errorsOf)]
}

/**
 * Turns a JSON line of the log into a line for people, such as
 * `2026-11-20 15:09:08 PUT /api/v1/crates/new 403 9 ms cargo/1.95.0`, with every fact of it. Text of strangers cannot control the
 * terminal or begin a line; the stack of an unexpected error follows, indented.
 */
export function logText(line: string, paint: Paint = (_, text) => text): string {
  const record = JSON.parse(line) as LogRecord
  const time = new Date(record.time).toLocaleString('sv')
  const frames = errorsOf(record.err)
    .flatMap(({ stack = '' }) => stack.split('\n'))
    .filter(line => /^ +at |^caused by/.test(line))
  const text = record.msg === 'request' ? request(record, paint) : event(record, paint)
  return `${[`${paint('dim', time)} ${text}`, ...frames.map(quotedText)].join('\n')}\n`
}

function request(record: LogRecord, paint: Paint): string {
  const { method = '', path = '', status = 0, ms = 0, agent, refused } = record
  const { user, crate, version, address } = record
  const what = [crate, version].filter(word => word !== undefined).join(' ')
  const who = [user && `by ${user}`, address && `from ${address}`].filter(Boolean).join(' ')
  const parts = [what, who].filter(part => part !== '').map(part => `, ${part}`)
  const by = `${agent === undefined ? '' : ` ${agent}`}${parts.join('')}${others(record, OF_REQUESTS)}`
  const why = refused === undefined ? '' : `, refused: ${refused}`
  const isBad = status >= 400 || refused !== undefined
  const code = isBad ? paint(status >= 500 ? 'red' : 'yellow', String(status)) : status
  const asked = `${quotedText(method)} ${quotedText(path)}`
  return `${asked} ${code} ${ms} ms${quotedText(by)}${quotedText(why)}`
}

function event(record: LogRecord, paint: Paint): string {
  const { level, msg, err, method, path } = record
  const asked = [method, path].filter(word => word !== undefined).join(' ')
  const place = asked === '' ? '' : ` (${asked})`
  const why = errorsOf(err).map(each => {
    const type = /^(?:Error|Refusal)$/.test(each.type) ? '' : `: ${each.type}`
    return `${type}${each.message && `: ${each.message}`}${others(each, OF_ERRORS)}`
  })
  const said = `${place}${why.join('')}${others(record, COMMON)}`
  // pino's numbers: 40 is a warning, 50 an error.
  const word = level < 40 ? '' : level < 50 ? 'warning: ' : 'error: '
  return `${paint(level < 50 ? 'yellow' : 'red', word)}${quotedText(msg)}${quotedText(said)}`
}
