import type { MiddlewareHandler } from 'hono'
import { type Logger, pino } from 'pino'

/** The destination of log lines. */
export interface LogSink {
  write(line: string): unknown
}

/** Anything that looks like a token, such as in a path or in an error of a library. */
const SECRET = /plim_[0-9A-Za-z]{8,}/g

/** Opens the daemon's log, which writes JSON lines with tokens removed. */
export function openLog(level: string, sink: LogSink): Logger {
  return pino({ level }, { write: line => void sink.write(line.replace(SECRET, 'plim_…')) })
}

/** Logs a line per request: method, path, status, ms and agent. Other headers may hold tokens. */
export function requestLog(log: Logger, level: 'debug' | 'info'): MiddlewareHandler {
  return async (c, next) => {
    const start = performance.now()
    await next()
    const { method, path } = c.req
    const ms = Math.round((performance.now() - start) * 10) / 10
    const agent = c.req.header('user-agent')
    log[level]({ method, path, status: c.res.status, ms, agent }, 'request')
  }
}
