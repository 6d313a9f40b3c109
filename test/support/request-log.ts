import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** One request as it came over the wire, and how it was answered. */
export interface LoggedRequest {
  readonly method: string
  /** Path and query exactly as sent. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  status: number
  responseHeaders: OutgoingHttpHeaders
}

/** Requests in the order in which they arrived. */
export class RequestLog {
  #requests: LoggedRequest[] = []

  add(method: string, url: string, headers: IncomingHttpHeaders): LoggedRequest {
    const request: LoggedRequest = { method, url, headers, status: 0, responseHeaders: {} }
    this.#requests.push(request)
    return request
  }

  get all(): readonly LoggedRequest[] {
    return this.#requests
  }

  /** `GET /index/config.json 200`, one per request. */
  get lines(): string[] {
    return this.#requests.map(request => `${request.method} ${request.url} ${request.status}`)
  }

  to(method: string, url: string): LoggedRequest[] {
    return this.#requests.filter(request => request.method === method && request.url === url)
  }

  /** Forgets those until now. */
  clear(): void {
    this.#requests = []
  }
}
