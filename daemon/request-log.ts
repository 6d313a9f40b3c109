import type { MiddlewareHandler } from 'hono'
import type { Logger } from 'pino'

/**
 * One line per request: method, path, status, milliseconds. Headers never go into the log, so neither do tokens.
 * Reads of files are `debug`, everything that may change something is `info`.
 */
export function requestLog(log: Logger): MiddlewareHandler {
  return async (c, next) => {
    const start = performance.now()
    await next()
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
    const ms = Math.round((performance.now() - start) * 10) / 10
    const line = { method: c.req.method, path: c.req.path, status: c.res.status, ms, agent: c.req.header('user-agent') }
    if (isRead && c.res.status < 500) log.debug(line, 'request')
    else log.info(line, 'request')
  }
}
