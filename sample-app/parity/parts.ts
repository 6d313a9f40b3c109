import { HTTPException } from 'hono/http-exception'
import type { Spool } from './spool.ts'

/** The most bytes of the headers of one part, and of the line breaks before the first one. */
const HEADER_LIMIT = 16 * 1024
/** The most bytes of one value that is not a file, and of all together. */
export const [VALUE_LIMIT, TEXT_LIMIT] = [1024 * 1024, 16 * 1024 * 1024]
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*)$/
const PARAMETER = /;\s*(?:([^\s=;"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*)))?)?[^;]*/gs

/** A body as it arrives. */
type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>
/** A part of a form: a text, or if it has a `filename`, what was spooled from `start` to `end`. */
const PART = { name: '', text: '', filename: '' as string | undefined, type: '', start: 0, end: 0 }

/** Bytes as a string with a character for each, which is short to search and cheap to cut. */
const binary = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
/** The text that such a string has in UTF-8. */
const decode = (bytes: string) => Buffer.from(bytes, 'latin1').toString()

/**
 * Splits a multipart body (RFC 7578) of a `Content-Type` as it arrives. A part with a `filename`,
 * even an empty one, is a file, whose data goes to the spool. A part that is cut off is left out.
 * @throws HTTPException 400 where the framing is broken
 */
export async function* readMultipart(chunks: Chunks, type: string, spool: Spool) {
  const boundary = parametersOf(type).get('boundary')
  if (!boundary) throw refusal('Missing boundary in multipart.')
  const delimiter = new RegExp(`\r\n--${boundary.replace(/\W/g, '\\$&')}(--|(?=\r\n))`)
  // A delimiter begins with a line break, which the first one need not have.
  let [place, rest, part] = ['before', '\r\n', PART]
  for await (const chunk of chunks) {
    // Data behind the end is read and left alone.
    rest = place === 'behind' ? '' : rest + binary(chunk)
    while (place !== 'behind') {
      const match = (place === 'headers' ? /\r\n\r\n/ : delimiter).exec(rest)
      // Without a delimiter the last bytes may be the beginning of one.
      const piece = rest.slice(0, match?.index ?? -boundary.length - 5)
      if (place !== 'data' && piece.length > HEADER_LIMIT) throw broken()
      // Some line breaks may stand before the first delimiter, nothing else.
      if (place === 'before' && /[^\r\n]/.test(piece)) throw broken()
      if (place === 'data' && part.filename !== undefined) await spool.write(piece)
      else if (place === 'data') part.text += piece
      if (part.text.length > VALUE_LIMIT) throw tooLong('Part')
      if (place === 'data' || match) rest = rest.slice(piece.length + (match?.[0].length ?? 0))
      if (!match) break
      if (place === 'data') yield { ...part, text: decode(part.text), end: spool.size }
      if (place === 'headers') part = { ...PART, ...parseHead(piece), start: spool.size }
      place = place === 'headers' ? 'data' : match[1] ? 'behind' : 'headers'
    }
  }
  const begun = rest.replace(/^[\r\n]+/, '')
  if (place === 'before' && !`--${boundary}\r\n`.startsWith(begun)) throw broken()
}

function parseHead(block: string) {
  const lines = decode(block).split('\r\n').filter(Boolean)
  const fields = lines.map(line => HEADER.exec(line))
  if (fields.includes(null)) throw broken()
  const headers = new Map(fields.map(match => [match?.[1]?.toLowerCase(), match?.[2]?.trim()]))
  const parameters = parametersOf(headers.get('content-disposition'))
  const name = parameters.get('name')
  if (name === undefined)
    throw refusal('The Content-Disposition header field "name" must be provided.')
  // A path from Windows is cut to its last name.
  const filename = parameters.get('filename')?.replace(/^(?:.:|\\)\\(?:.*\\)?/s, '')
  return { name, filename, type: headers.get('content-type') ?? '' }
}

/**
 * The parameters of a header such as `form-data; name="file"`; the last of a name counts. In quotes,
 * `\"` and `\\` are undone and nothing else, so `%22` stays. A bare name has the value `""`.
 */
function parametersOf(header = ''): Map<string, string> {
  const parameters = [...header.matchAll(PARAMETER)].map(([, name = '', quoted, plain = '']) => {
    return [name.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? plain.trim()] as const
  })
  return new Map(parameters)
}

/** The texts of an urlencoded body. */
export async function* readPairs(chunks: Chunks) {
  let body = ''
  for await (const chunk of chunks) {
    body += binary(chunk)
    if (body.length > TEXT_LIMIT) throw tooLarge()
  }
  for (const [pair] of decode(body).matchAll(/[^&]+/g)) {
    if (pair.length - pair.indexOf('=') > VALUE_LIMIT + 1) throw tooLong('Field')
    // A question mark at the beginning would be dropped.
    for (const [name, text] of new URLSearchParams(`&${pair}`))
      yield { ...PART, name, text, filename: undefined }
  }
}

/** A 400, as FastAPI words it. */
export const refusal = (message: string) => new HTTPException(400, { message })
const broken = () => refusal('Invalid multipart data.')
const tooLong = (what: string) => refusal(`${what} exceeded maximum size of 1024KB.`)
/** Texts stay in memory, all of them together. */
export const tooLarge = () => new HTTPException(413, { message: 'Request body too large' })
