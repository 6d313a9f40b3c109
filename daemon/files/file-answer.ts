import type { Stats } from 'node:fs'
import { isKnown } from '../http/answer.ts'

/** What an answer depends on besides the path. */
export interface Asked {
  readonly method: string
  header(name: string): string | undefined
}

/** An answer from the tree that is not written yet. Shared between requests: not to be changed. */
export interface FileAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | FilePart | null
}

/** Bytes that are read from the file while they are sent; first and last byte included. */
export interface FilePart {
  readonly file: string
  readonly stats: Stats
  readonly start: number
  readonly end: number
}

/** A file in one encoding: the answer with its bytes, and the one to who has them. */
export interface Variant {
  readonly full: FileAnswer
  readonly known: FileAnswer
}

/** Both answers with a file in one encoding; `more` are headers of the full one. */
export function variantOf(
  headers: Readonly<Record<string, string>>,
  body: Buffer | FilePart,
  more: Readonly<Record<string, string>> = {},
): Variant {
  const full = { ...headers, ...more, 'content-length': String(sizeOf(body)) }
  return {
    full: { status: 200, headers: full, body },
    known: { status: 304, headers, body: null },
  }
}

function sizeOf(body: Buffer | FilePart): number {
  return Buffer.isBuffer(body) ? body.byteLength : body.end - body.start + 1
}

/** The answer with a file to somebody who may have it already, or want a part of it. */
export function choose({ full, known }: Variant, tag: string, asked: Asked): FileAnswer {
  const { headers, body } = full
  const has = asked.header('if-none-match')
  if (body === null || has === headers.etag || isKnown(has, tag)) return known
  if (asked.method === 'HEAD') return { ...full, body: null }
  const size = sizeOf(body)
  const range = headers['accept-ranges'] ? partOf(asked, size, tag) : null
  if (range === null) return full
  if (range === 'unsatisfiable')
    return { status: 416, headers: { 'content-range': `bytes */${size}` }, body: null }
  const { start, end } = range
  const part = Buffer.isBuffer(body) ? body.subarray(start, end + 1) : { ...body, ...range }
  const more = {
    'content-length': String(end - start + 1),
    'content-range': `bytes ${start}-${end}/${size}`,
  }
  return { status: 206, headers: { ...headers, ...more }, body: part }
}

const UNWEIGHTED_GZIP = /(?:^|,)\s*(?:(?:x-)?gzip|\*)\s*(?:,|$)/i

/** Whether `Accept-Encoding` allows gzip, by name or `*`, with a weight above 0 (RFC 9110). */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false
  if (!header.includes(';')) return UNWEIGHTED_GZIP.test(header)
  let star = false
  for (const one of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = one.split(';').map(part => part.trim())
    const isRefused = parameters.some(parameter => /^q\s*=\s*0(\.0*)?$/.test(parameter))
    if (coding === 'gzip' || coding === 'x-gzip') return !isRefused
    if (coding === '*') star = !isRefused
  }
  return star
}

/**
 * The range that a GET asks for (RFC 9110 §14.2). Null, the whole file, also answers several or
 * malformed ranges, and an `If-Range` that does not match.
 */
function partOf(
  asked: Asked,
  size: number,
  tag: string,
): Pick<FilePart, 'start' | 'end'> | 'unsatisfiable' | null {
  if (asked.method !== 'GET') return null
  const ifRange = asked.header('if-range')
  if (ifRange !== undefined && ifRange.trim() !== `"${tag}"`) return null
  const range = asked.header('range')?.trim() ?? ''
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return null
  if (start >= size || (first === '' && Number(last) === 0)) return 'unsatisfiable'
  return { start, end }
}
