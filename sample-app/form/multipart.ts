import { isUtf8 } from 'node:buffer'
import { HTTPException } from 'hono/http-exception'

/** What a multipart body consists of: a part's headers, pieces of its data, `end` when it is whole. */
export type MultipartEvent = ReadonlyMap<string, string> | Buffer | 'end'

/** The most bytes of the headers of one part. */
const HEADER_LIMIT = 16 * 1024
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*)$/

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
  // The first delimiter stands at the beginning of a line, too.
  let rest = Buffer.from('\r\n')
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

  for (let isFirst = true; ; isFirst = false) {
    for (let isWhole = false; !isWhole; ) {
      let at = rest.indexOf(delimiter)
      const isJudged = () => at !== -1 && rest.length >= at + delimiter.length + 2
      // The text of the delimiter inside of a longer line is data like any other, and goes with it.
      while (isJudged() && !follower(at)) at = rest.indexOf(delimiter, at + delimiter.length)
      isWhole = isJudged()
      // Without a delimiter the last bytes may be the beginning of one.
      const certain = at === -1 ? Math.max(0, rest.length - delimiter.length) : at
      // Line breaks may stand before the first delimiter, nothing else.
      if (isFirst && /[^\r\n]/.test(rest.toString('latin1', 0, certain))) throw broken()
      if (!isFirst && certain > 0) yield rest.subarray(0, certain)
      rest = rest.subarray(certain)
      if (isWhole || (await more())) continue
      if (isFirst && !delimiter.includes(rest.subarray(0, delimiter.length))) throw broken()
      return
    }
    if (!isFirst) yield 'end'
    if (follower(0) === '--') break
    rest = rest.subarray(delimiter.length)
    // The line break of the delimiter stays, so that a part without headers ends like any other.
    let end = rest.indexOf('\r\n\r\n')
    for (; end === -1; end = rest.indexOf('\r\n\r\n')) {
      if (rest.length > HEADER_LIMIT + 4) throw broken()
      if (!(await more())) return
    }
    if (end > HEADER_LIMIT) throw broken()
    yield parseHeaders(rest.subarray(2, Math.max(2, end)))
    rest = rest.subarray(end + 4)
  }
  // Data behind the end is read and left alone.
  do rest = Buffer.alloc(0)
  while (await more())
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
