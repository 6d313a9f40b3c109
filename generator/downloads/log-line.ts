import { dayOf } from '../../core/day-counts.ts'

/** What `--format` may be; `auto` decides by each line. */
export const LOG_FORMATS = [
  'auto',
  'nginx',
  'common',
  'caddy',
  'cloudfront',
  'fastly',
  'cloudflare',
] as const

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
  cloudfront: ['columns', 'json'],
  fastly: ['text', 'json'],
  cloudflare: ['json'],
}

/** CloudFront's columns, for a file without the line that names them. */
const COLUMNS =
  'date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status'.split(' ')

/** Reads the lines of one access log; comments change what it expects of the lines after them. */
export class LogReader {
  readonly #shapes: readonly Shape[]
  #columns: readonly string[] = COLUMNS

  constructor(format: LogFormat) {
    this.#shapes = SHAPES[format]
  }

  /** Returns the request of a line, `comment` for a line without one, null if it is not understood. */
  read(line: string): LoggedRequest | 'comment' | null {
    if (line.trim() === '') return 'comment'
    if (line.startsWith('#')) {
      const [, names] = /^#Fields:\s*(.*)$/.exec(line.trimEnd()) ?? []
      if (names !== undefined) this.#columns = names.split(/\s+/)
      return 'comment'
    }
    const shape = line.startsWith('{') ? 'json' : TABS.test(line) ? 'columns' : 'text'
    if (!this.#shapes.includes(shape)) return null
    if (shape === 'text') return textRequest(line)
    return shape === 'json' ? jsonRequest(line) : this.#columnRequest(line)
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

/** Apache's common format, with whatever is before and after it: `[time] "request" status`. */
const TEXT =
  /\[(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] "([A-Z]+) ((?:[^\s"\\]|\\.)+)(?: (?:[^"\\]|\\.)*)?" (\d{3})(?: |$)/

function textRequest(line: string): LoggedRequest | null {
  const found = TEXT.exec(line)
  if (!found) return null
  const [, date, month = '', year, clock, hours, minutes, method, target, status] = found
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0')
  const time = Date.parse(`${year}-${number}-${date}T${clock}${hours}:${minutes}`)
  return requestOf(method, target, status, time)
}

/** The names that CDNs and servers give to what is needed, the most usual first. */
const METHOD = ['method', 'ClientRequestMethod', 'cs-method', 'request_method', 'request']
const TARGET = [
  'uri',
  'ClientRequestURI',
  'ClientRequestPath',
  'cs-uri-stem',
  'url',
  'path',
  'request_uri',
]
const STATUS = ['status', 'EdgeResponseStatus', 'sc-status', 'response_status']
const TIME = [
  'ts',
  'EdgeStartTimestamp',
  'date_time',
  'timestamp',
  'time',
  'EdgeEndTimestamp',
  'time_local',
]

function jsonRequest(line: string): LoggedRequest | null {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch {
    return null
  }
  const top = record as Record<string, unknown>
  // Caddy has the request in an object of its own.
  const { request } = top
  const all = typeof request === 'object' && request !== null ? { ...top, ...request } : top
  const value = (names: readonly string[]) =>
    names
      .map(name => (Object.hasOwn(all, name) ? all[name as keyof typeof all] : undefined))
      .find(one => typeof one === 'string' || typeof one === 'number')
  const { date } = top
  const time = value(TIME)
  const at =
    typeof date === 'string' && /^\d\d:/.test(String(time))
      ? Date.parse(`${date}T${time}Z`)
      : instant(time)
  return requestOf(value(METHOD), value(TARGET), value(STATUS), at)
}

/** Reads a time as text (RFC 3339), or as seconds, milliseconds or nanoseconds since 1970. */
function instant(value: string | number | undefined): number {
  const number =
    typeof value === 'number' ? value : /^[\d.]+$/.test(value ?? '') ? Number(value) : null
  if (number === null) return Date.parse(String(value))
  if (number < 1e11) return number * 1000
  return number < 1e14 ? number : number < 1e17 ? number / 1e3 : number / 1e6
}

/** The end of the year 9999: dates have four digits. */
const TIME_MAX = Date.UTC(10_000, 0) - 1

function requestOf(
  method: string | number | undefined,
  target: string | number | undefined,
  status: string | number | undefined,
  time: number,
): LoggedRequest | null {
  const code = Number(status)
  if (method === undefined || target === undefined) return null
  if (!Number.isInteger(code) || code < 0 || code > 999) return null
  if (!(time >= 0 && time <= TIME_MAX)) return null
  const day = dayOf(new Date(time))
  return { method: String(method), target: String(target), status: code, day }
}
