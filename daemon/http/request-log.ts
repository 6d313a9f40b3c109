import type { MiddlewareHandler } from 'hono'
import type { Logger } from 'pino'

/**
 * One line per request: method, path, status, milliseconds. Headers never go into the log, so neither do tokens.
 * Reads are `debug`, everything that may change something is `info`.
 */
export function requestLog(log: Logger, level: 'debug' | 'info'): MiddlewareHandler {
  return async (c, next) => {
    const start = performance.now()
    await next()
    const ms = Math.round((performance.now() - start) * 10) / 10
    const agent = c.req.header('user-agent')
    log[level](
      { method: c.req.method, path: c.req.path, status: c.res.status, ms, agent },
      'request',
    )
  }
}
