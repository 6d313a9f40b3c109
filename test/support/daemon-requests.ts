import type { LoggedRequest, Requests } from './request-log.ts'

/**
 * The requests that a daemon has written to its log, at the level `debug`: method, path and status,
 * in the order in which they were answered. The log tells neither queries nor headers.
 */
export class DaemonRequests implements Requests {
  readonly #log: () => string
  #forgotten = 0

  constructor(log: () => string) {
    this.#log = log
  }

  get all(): readonly LoggedRequest[] {
    return this.#everything().slice(this.#forgotten)
  }

  get lines(): string[] {
    return this.all.map(request => `${request.method} ${request.url} ${request.status}`)
  }

  get sorted(): string[] {
    return this.lines.sort()
  }

  to(method: string, url: string): LoggedRequest[] {
    return this.all.filter(request => request.method === method && request.url === url)
  }

  clear(): void {
    this.#forgotten = this.#everything().length
  }

  #everything(): LoggedRequest[] {
    const lines = this.#log().split('\n')
    const entries = lines
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as LogEntry)
    return entries
      .filter(({ msg }) => msg === 'request')
      .map(({ method, path, status }) => ({
        method,
        url: path,
        status,
        headers: {},
        responseHeaders: {},
      }))
  }
}

interface LogEntry {
  readonly msg: string
  readonly method: string
  readonly path: string
  readonly status: number
}
