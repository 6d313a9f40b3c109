import { quotedText } from '../../core/error/catalog.ts'
import type { Paint } from '../../generator/cli/console/terminal.ts'

type Of = 'method' | 'path' | 'agent' | 'user' | 'crate' | 'version' | 'address' | 'refused' | 'id'

interface LogRecord extends Readonly<Partial<Record<Of, string>>> {
  readonly level: number
  readonly time: number
  readonly msg: string
  readonly status?: number
  readonly ms?: number
  readonly err?: { readonly message: string; readonly stack?: string }
}

/** What all lines of a process have in common, and what lines say in their own words. */
const COMMON = 'level time pid hostname msg err method path id'.split(' ')
const OF_REQUESTS = [...COMMON, ...'status ms agent user crate version address refused'.split(' ')]
const OF_ERRORS = ['type', 'message', 'stack', 'aggregateErrors']

/** Returns the other facts of a record, such as `, signal=SIGTERM`. */
function others(record: object, said: readonly string[], msg = ''): string {
  const shown = Object.entries(record).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return said.includes(name) || (text !== '' && msg.includes(text)) ? '' : `, ${name}=${text}`
  })
  return shown.join('')
}

/**
 * Turns a JSON line of the log into a line for people, such as
 * `2026-11-20 15:09:08 PUT /api/v1/crates/new 403 9 ms cargo/1.95.0`, with every fact of it. Text of strangers cannot control the
 * terminal or begin a line; the stack of an unexpected error follows, indented.
 */
export function logText(line: string, paint: Paint = (_, text) => text): string {
  const record = JSON.parse(line) as LogRecord
  const time = new Date(record.time).toLocaleString('sv')
  const frames = (record.err?.stack ?? '')
    .split('\n')
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
  return `${asked} ${code} ${Math.round(ms)} ms${quotedText(by)}${quotedText(why)}`
}

function event(record: LogRecord, paint: Paint): string {
  const { level, msg, err, method, path, id } = record
  const place = method === undefined ? '' : ` (${method} ${path}${id ? `, ${id}` : ''})`
  const why = err === undefined || msg.includes(err.message) ? '' : `: ${err.message}`
  // pino's numbers: 40 is a warning, 50 an error.
  const word = level < 40 ? '' : level < 50 ? 'warning: ' : 'error: '
  return `${paint(level < 50 ? 'yellow' : 'red', word)}${quotedText(msg)}${quotedText(place)}${quotedText(why + others(err ?? {}, OF_ERRORS, why) + others(record, COMMON, msg))}`
}
