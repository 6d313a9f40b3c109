import * as v from 'valibot'
import { dayOf } from '../../core/day-counts.ts'
import { jsonIn } from '../../core/plain-data.ts'

/** The values of `--format`; `auto` decides by each line. */
export const LOG_FORMATS = ['auto', 'nginx', 'common', 'caddy', 'cloudfront'] as const

export type LogFormat = (typeof LOG_FORMATS)[number]

/** A request of an access log. Nothing else of its line is kept. */
export interface LoggedRequest {
  readonly method: string
  /** Path as in the log: percent-encoded, perhaps with scheme, host and query. */
  readonly target: string
  readonly status: number
  readonly day: number
}

/** How lines are written: as text, as JSON, or as columns between tabs. */
type Shape = 'text' | 'json' | 'columns'

const SHAPES: Readonly<Record<LogFormat, readonly Shape[]>> = {
  auto: ['text', 'json', 'columns'],
  nginx: ['text'],
  common: ['text'],
  caddy: ['json'],
  cloudfront: ['columns'],
}

/** CloudFront's columns, for a file without the line that names them. */
const COLUMNS =
  'date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status'.split(' ')

/** What asks for packages to show their sources, as `Referer` says; that is no download. */
const READER = '/browser/sources/archive.js'

/** Reads the lines of one access log; comments set the format of the lines after them. */
export class LogReader {
  readonly #shapes: readonly Shape[]
  #columns: readonly string[] = COLUMNS

  constructor(format: LogFormat) {
    this.#shapes = SHAPES[format]
  }

  /** Returns the request of a line, `comment` for one to skip, null if it is not understood. */
  read(line: string): LoggedRequest | 'comment' | null {
    if (line.trim() === '' || line.includes(READER)) return 'comment'
    if (line.startsWith('#')) {
      const [, names] = /^#Fields:\s*(.*)$/.exec(line.trimEnd()) ?? []
      if (names !== undefined) this.#columns = names.split(/\s+/)
      return 'comment'
    }
    const shape = line.startsWith('{') ? 'json' : TABS.test(line) ? 'columns' : 'text'
    if (!this.#shapes.includes(shape)) return null
    if (shape === 'text') return textRequest(line)
    return shape === 'json' ? caddyRequest(line) : this.#columnRequest(line)
  }

  #columnRequest(line: string): LoggedRequest | null {
    const values = line.split('\t')
    const value = (name: string) => values[this.#columns.indexOf(name)]
    const time = Date.parse(`${value('date')}T${value('time')}Z`)
    return requestOf(value('cs-method'), value('cs-uri-stem'), value('sc-status'), time)
  }
}

/** Columns begin with a date and have a tab before the time. */
const TABS = /^[^\s"[]*\t/

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Apache's common format, with anything before and after it: `[time] "request" status`. */
const TEXT =
  /\[(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] "([A-Z]+) ((?:[^\s"\\]|\\.)+)(?: (?:[^"\\]|\\.)*)?" (\d{3})(?: |$)/

function textRequest(line: string): LoggedRequest | null {
  const match = TEXT.exec(line)
  if (!match) return null
  const [, date, month = '', year, clock, hours, minutes, method, target, status] = match
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0')
  const time = Date.parse(`${year}-${number}-${date}T${clock}${hours}:${minutes}`)
  return requestOf(method, target, status, time)
}

/** The used keys of a line in Caddy's log; strangers cannot write keys. */
const CADDY = v.object({
  ts: v.number(),
  status: v.number(),
  request: v.object({ method: v.string(), uri: v.string() }),
})

function caddyRequest(line: string): LoggedRequest | null {
  const parsed = v.safeParse(CADDY, jsonIn(line))
  if (!parsed.success) return null
  const { ts, status, request } = parsed.output
  return requestOf(request.method, request.uri, status, ts * 1000)
}

/** Crates came to be in 2014; a line of another century is broken. */
const FIRST_DAY = dayOf(new Date('2014-11-01'))

function requestOf(
  method: string | undefined,
  target: string | undefined,
  status: string | number | undefined,
  time: number,
): LoggedRequest | null {
  const code = Number(status)
  if (method === undefined || target === undefined) return null
  if (!Number.isInteger(code) || code < 0 || code > 999) return null
  const day = dayOf(new Date(time))
  return day >= FIRST_DAY ? { method, target, status: code, day } : null
}
