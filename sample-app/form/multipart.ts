import { isUtf8 } from 'node:buffer'
import { HTTPException } from 'hono/http-exception'

/** What a multipart body consists of, in this order; a part without an `end` was cut off. */
export type MultipartEvent =
  | { readonly kind: 'part'; readonly headers: ReadonlyMap<string, string> }
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }

/** The most bytes of the headers of one part. */
const HEADER_LIMIT = 16 * 1024
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*)$/
const [CR, LF] = [0x0d, 0x0a]

/**
 * Splits a multipart body (RFC 7578) as it arrives. Holds at most one chunk, one delimiter and the
 * headers of one part; a slow consumer slows the sender down.
 * @throws HTTPException 400 where the framing is broken. A body that just ends is only short.
 */
export async function* readMultipart(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<MultipartEvent> {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const arriving = chunks[Symbol.asyncIterator]()
  let rest = Buffer.alloc(0)
  const more = async () => {
    const { done, value } = await arriving.next()
    if (!done) rest = Buffer.concat([rest, value])
    return !done
  }
  /** What follows a delimiter: another part after a line break, nothing after two hyphens. */
  const follower = (at: number) => {
    const two = rest.toString('latin1', at + delimiter.length, at + delimiter.length + 2)
    return two === '\r\n' || two === '--' ? two : undefined
  }

  // Line breaks may stand before the first delimiter, nothing else.
  while (rest.length < delimiter.length + 2) {
    if (!(await more())) return
    const start = rest.findIndex(byte => byte !== CR && byte !== LF)
    rest = Buffer.concat([
      delimiter.subarray(0, 2),
      rest.subarray(start === -1 ? rest.length : start),
    ])
    const length = Math.min(delimiter.length, rest.length)
    if (rest.compare(delimiter, 0, length, 0, length) !== 0) throw broken()
  }
  if (!follower(0)) throw broken()

  while (follower(0) === '\r\n') {
    rest = rest.subarray(delimiter.length)
    // The line break of the delimiter stays, so that a part without headers ends like any other.
    let end = rest.indexOf('\r\n\r\n')
    for (; end === -1; end = rest.indexOf('\r\n\r\n')) {
      if (rest.length > HEADER_LIMIT + 4) throw broken()
      if (!(await more())) return
    }
    if (end > HEADER_LIMIT) throw broken()
    yield { kind: 'part', headers: parseHeaders(rest.subarray(2, Math.max(2, end))) }
    rest = rest.subarray(end + 4)

    for (let isWhole = false; !isWhole; ) {
      let at = rest.indexOf(delimiter)
      const isJudged = () => at !== -1 && rest.length >= at + delimiter.length + 2
      // The text of the delimiter inside of a longer line is data like any other, and goes with it.
      while (isJudged() && !follower(at)) at = rest.indexOf(delimiter, at + delimiter.length)
      isWhole = isJudged()
      const certain = at === -1 ? endOfCertainData(rest, delimiter) : at
      if (certain > 0) yield { kind: 'data', bytes: rest.subarray(0, certain) }
      rest = rest.subarray(certain)
      if (!isWhole && !(await more())) return
    }
    yield { kind: 'end' }
  }
  // Data behind the end is read and left alone.
  do rest = Buffer.alloc(0)
  while (await more())
}

/** Where a delimiter may begin whose rest is still to come; the end of the bytes if none does. */
function endOfCertainData(bytes: Buffer, delimiter: Buffer): number {
  let at = bytes.indexOf(CR, Math.max(0, bytes.length - delimiter.length + 1))
  while (at !== -1 && bytes.compare(delimiter, 0, bytes.length - at, at) !== 0) {
    at = bytes.indexOf(CR, at + 1)
  }
  return at === -1 ? bytes.length : at
}

function parseHeaders(block: Buffer): Map<string, string> {
  const lines = block.length === 0 ? [] : decodeText(block).split('\r\n')
  const found = lines.map(line => HEADER.exec(line))
  if (found.includes(null)) throw broken()
  return new Map(found.map(one => [one?.[1]?.toLowerCase() ?? '', one?.[2]?.trim() ?? '']))
}

/** Bytes as text: UTF-8, or Latin-1 where they are not. */
export function decodeText(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
}

function broken() {
  return new HTTPException(400, { message: 'Invalid multipart data.' })
}
