import type { Context } from 'hono'

/** What a request for a file asks for, besides the path. */
export interface FileRequest {
  readonly method: string
  /** Empty, or beginning with `?`; it goes along where a folder's address is put right. */
  readonly query: string
  readonly ifNoneMatch: string | undefined
  readonly acceptEncoding: string | undefined
  readonly range: string | undefined
  readonly ifRange: string | undefined
}

/** What a Hono request asks of a file. */
export function fileRequest(c: Context): FileRequest {
  return {
    method: c.req.method,
    query: new URL(c.req.url).search,
    ifNoneMatch: c.req.header('if-none-match'),
    acceptEncoding: c.req.header('accept-encoding'),
    range: c.req.header('range'),
    ifRange: c.req.header('if-range'),
  }
}

/**
 * Whether `Accept-Encoding` allows gzip (RFC 9110 §12.5.3): by name or `*`, with a weight above 0.
 */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false
  let star = false
  for (const one of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = one.split(';').map(part => part.trim())
    const isRefused = parameters.some(parameter => /^q\s*=\s*0(\.0*)?$/.test(parameter))
    if (coding === 'gzip' || coding === 'x-gzip') return !isRefused
    if (coding === '*') star = !isRefused
  }
  return star
}

/** First and last byte of a part, both included. */
export interface Part {
  readonly start: number
  readonly end: number
}

/**
 * The range that a GET asks for (RFC 9110 §14.2). Null, the whole file, also answers several or
 * malformed ranges, and an `If-Range` that does not match.
 */
export function partOf(
  request: FileRequest,
  size: number,
  tag: string,
): Part | 'unsatisfiable' | null {
  if (request.method !== 'GET') return null
  if (request.ifRange !== undefined && request.ifRange.trim() !== `"${tag}"`) return null
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(request.range?.trim() ?? '')
  const [first, last] = [match?.[1] ?? '', match?.[2] ?? '']
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return null
  if (start >= size || (first === '' && Number(last) === 0)) return 'unsatisfiable'
  return { start, end }
}
