import { HTTPException } from 'hono/http-exception'

/** The most bytes of the headers of one part, and of the line breaks before the first one. */
const HEADER_LIMIT = 16 * 1024
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*)$/

/** A body as it arrives. */
export type Chunks = AsyncIterable<Uint8Array>
/** Where a part begins in a body, and where it ends: nowhere, if it was cut off. */
export type Span = { start: number; end?: number }

/**
 * Passes a multipart body (RFC 7578) on as it arrives, and notes where its parts are, up to a limit.
 * @throws HTTPException 400 if there is no delimiter where the first has to be
 */
export async function* findParts(chunks: Chunks, boundary: string, limit: number, parts: Span[]) {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  // The first delimiter need not have the line break that all others begin with.
  let [rest, place] = [Buffer.from('\r\n'), -2]
  let [isFirst, isOver] = [true, false]
  for await (const chunk of chunks) {
    // Data behind the end is read and left alone.
    if (isOver) continue
    yield chunk
    rest = Buffer.concat([rest, chunk])
    let at = rest.indexOf(delimiter)
    for (; at !== -1 && !isOver; at = rest.indexOf(delimiter, at + 1)) {
      const end = at + delimiter.length
      const next = rest.toString('latin1', end, end + 2)
      if (next !== '\r\n' && next !== '--') continue
      // Some line breaks may stand before the first delimiter, nothing else.
      if (isFirst && /[^\r\n]/.test(rest.toString('latin1', 0, at))) throw broken()
      isFirst = false
      isOver = next === '--'
      const open = parts.at(-1)
      if (open) open.end = place + at
      if (!isOver) parts.push({ start: place + end })
    }
    if (isFirst && rest.length > HEADER_LIMIT) throw broken()
    if (parts.length > limit) return
    // The last bytes may be the beginning of a delimiter.
    const done = isFirst ? 0 : Math.max(0, rest.length - delimiter.length - 1)
    rest = rest.subarray(done)
    place += done
  }
  if (isFirst && !`--${boundary}\r\n`.startsWith(String(rest).trimStart())) throw broken()
}

/**
 * Headers and data of a part. It is undefined if it was cut off: then it is as good as not sent.
 * @throws HTTPException 400 where its headers are broken
 */
export async function readPart(body: Blob, { start, end }: Span) {
  // The line break of the delimiter belongs to it, so that a part may have no headers.
  const part = body.slice(start, end)
  const head = Buffer.from(await part.slice(0, HEADER_LIMIT + 4).arrayBuffer())
  const blank = head.indexOf('\r\n\r\n')
  if (blank === -1 && end === undefined && head.length <= HEADER_LIMIT) return undefined
  if (blank === -1) throw broken()
  const headers = parseHeaders(head.toString('utf8', 0, blank))
  return end === undefined ? undefined : { headers, data: part.slice(blank + 4) }
}

function parseHeaders(block: string): Map<string, string> {
  const lines = block.split('\r\n').filter(Boolean)
  const found = lines.map(line => HEADER.exec(line))
  if (found.includes(null)) throw broken()
  return new Map(found.map(match => [match?.[1]?.toLowerCase() ?? '', match?.[2]?.trim() ?? '']))
}

const PARAMETER = /\s*([^\s=;"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*)))?[^;]*|[^;]+/gs

/**
 * Takes a header value such as `form-data; name="file"` apart; the last of a name wins. In quotes,
 * `\"` and `\\` are undone and nothing else, so `%22` stays. A bare name has the value `""`.
 */
export function parseHeaderValue(header: string) {
  const [value = ''] = header.split(';', 1)
  const parameters = new Map<string, string>()
  for (const [, name, quoted, plain = ''] of header.slice(value.length).matchAll(PARAMETER)) {
    const text = quoted?.replace(/\\(["\\])/g, '$1') ?? plain.trim()
    if (name !== undefined) parameters.set(name.toLowerCase(), text)
  }
  return { value: value.trim().toLowerCase(), parameters }
}

/** A 400, as FastAPI words it. */
export const refusal = (message: string) => new HTTPException(400, { message })
const broken = () => refusal('Invalid multipart data.')
