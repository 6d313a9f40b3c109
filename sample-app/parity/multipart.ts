import { HTTPException } from 'hono/http-exception'

/** The most bytes of the headers of one part, and of the line breaks before the first one. */
const HEADER_LIMIT = 16 * 1024
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*)$/

/** A body, or a part of one, as it arrives. */
export type Chunks = AsyncIterable<Uint8Array>

/** Ends the data of a part if the body ends too early. */
export class CutOff extends Error {}

/**
 * Splits a multipart body (RFC 7578) as it arrives; data that nobody reads is skipped. It holds one
 * chunk, one delimiter and the headers of one part, and a slow consumer slows the sender down.
 * @throws HTTPException 400 where the framing is broken, CutOff where the body just ends
 */
export async function* readMultipart(chunks: Chunks, boundary: string) {
  const another = Buffer.from(`\r\n--${boundary}\r\n`, 'latin1')
  const last = Buffer.from(`\r\n--${boundary}--`, 'latin1')
  const arriving = chunks[Symbol.asyncIterator]()
  // A delimiter begins with a line break, which the first one need not have.
  let rest = Buffer.from('\r\n')
  let isLast = false
  const more = async () => {
    const { done, value } = await arriving.next()
    if (!done) rest = Buffer.concat([rest, value])
    return !done
  }

  /** The bytes before the next delimiter: the data of a part, or those before all parts. */
  async function* data(isPart: boolean) {
    for (;;) {
      const next = rest.indexOf(another)
      const end = rest.subarray(0, next === -1 ? rest.length : next).indexOf(last)
      const found = end === -1 ? next : end
      // Without a delimiter the last bytes may be the beginning of one.
      const certain = found === -1 ? Math.max(0, rest.length - another.length + 1) : found
      if (certain > 0) yield rest.subarray(0, certain)
      rest = rest.subarray(certain)
      isLast = end !== -1
      if (found !== -1) return
      if (!(await more())) throw isPart || another.includes(rest) ? new CutOff() : broken()
    }
  }

  // Some line breaks may stand before the first delimiter, nothing else.
  let before = 0
  for await (const piece of data(false)) {
    before += piece.length
    if (before > HEADER_LIMIT || /[^\r\n]/.test(String(piece))) throw broken()
  }
  while (!isLast) {
    // The line break of the delimiter stays, so that a part without headers ends like any other.
    rest = rest.subarray(another.length - 2)
    let blank = rest.indexOf('\r\n\r\n')
    for (; blank === -1; blank = rest.indexOf('\r\n\r\n')) {
      if (rest.length > HEADER_LIMIT + 4) throw broken()
      if (!(await more())) throw new CutOff()
    }
    if (blank > HEADER_LIMIT) throw broken()
    const headers = parseHeaders(rest.subarray(2, Math.max(2, blank)))
    rest = rest.subarray(blank + 4)
    const body = data(true)
    yield { headers, data: body }
    for await (const _ of body);
  }
  // Data behind the end is read and left alone.
  do rest = Buffer.alloc(0)
  while (await more())
}

function parseHeaders(block: Buffer): Map<string, string> {
  const lines = block.toString().split('\r\n').filter(Boolean)
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
