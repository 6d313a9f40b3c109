import type { MiddlewareHandler } from 'hono'
import { type Logger, pino } from 'pino'
import type { Paint } from '../../generator/index.ts'
import { issuesOf } from './answer.ts'
import { logText } from './log-text.ts'

/** The destination of log lines. */
export interface LogSink {
  write(line: string): unknown
}

/** `json`: a JSON object per line, for programs; `text`: for people. */
export type LogFormat = 'json' | 'text'

/** Anything that looks like a token, such as in a path or in an error of a library. */
const SECRET = /plim_[0-9A-Za-z]{8,}/g

/**
 * Opens the daemon's log, with tokens removed and control characters escaped. `paint` colors text;
 * default: no colors.
 */
export function openLog(
  level: string,
  sink: LogSink,
  format: LogFormat = 'json',
  paint?: Paint,
): Logger {
  const render = format === 'text' ? (line: string) => logText(line, paint) : escaped
  return pino({ level }, { write: line => void sink.write(render(line.replace(SECRET, 'plim_…'))) })
}

/** Logs a line per request, without headers that may hold tokens; of a refusal, the reasons. */
export function requestLog(log: Logger, level: 'debug' | 'info'): MiddlewareHandler {
  return async (c, next) => {
    const start = performance.now()
    await next()
    const { method, path } = c.req
    const ms = Math.round((performance.now() - start) * 10) / 10
    const agent = c.req.header('user-agent')
    const issues = issuesOf(c)
    const refused = issues.length > 0 ? issues.map(one => one.message).join('; ') : undefined
    log[level]({ method, path, status: c.res.status, ms, agent, refused }, 'request')
  }
}

/** Escapes what JSON leaves alone and a terminal obeys, such as U+009B, the 8-bit CSI. */
function escaped(line: string): string {
  return line.replace(/(?!\n$)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, character =>
    [...Array(character.length).keys()]
      .map(at => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
