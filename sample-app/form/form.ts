import { HTTPException } from 'hono/http-exception'
import { UploadFile } from './upload-file.ts'

/** The most bytes of a body kept in memory: 16 MiB. Files are streamed and have no limit. */
export const BODY_LIMIT = 16 * 1024 * 1024
/** The most fields, and the most files, that one form may have. */
const PART_LIMIT = 1000
/** The most bytes of one value that is not a file. */
const VALUE_LIMIT = 1024 * 1024
/** The most bytes of the headers of one part. */
const HEADER_LIMIT = 16 * 1024
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*)$/

/** A body, or a part of one, as it arrives. */
export type Chunks = AsyncIterable<Uint8Array>

/** Every value of a declared list, the last of any other declared field; the rest is counted. */
export class Form {
  readonly values = new Map<string, (string | UploadFile)[]>()
  readonly #files: UploadFile[] = []
  readonly #counts = { fields: 0, files: 0, bytes: 0 }
  #types: ReadonlyMap<string, string> = new Map()

  /**
   * Reads a body, given Valibot's type of each declared field. What is neither urlencoded nor
   * multipart has no fields, and is never a 415. Broken data, and what exceeds a limit, is a 400.
   */
  async read(types: ReadonlyMap<string, string>, chunks: Chunks, contentType = '') {
    this.#types = types
    const { value: type, parameters } = parseHeaderValue(contentType)
    if (type === 'multipart/form-data') {
      // A part that is cut off is as good as not sent.
      await this.#readParts(chunks, parameters.get('boundary')).catch(error => {
        if (!(error instanceof CutOff)) throw error
      })
    }
    if (type === 'application/x-www-form-urlencoded') await this.#readPairs(await readWhole(chunks))
  }

  /** Closes every file, which also frees the disk. */
  async close(): Promise<void> {
    await Promise.all(this.#files.map(file => file.close()))
  }

  async #readParts(chunks: Chunks, boundary = ''): Promise<void> {
    if (boundary === '') throw refusal('Missing boundary in multipart.')
    for await (const { headers, data } of readMultipart(chunks, boundary)) {
      const { parameters } = parseHeaderValue(headers.get('content-disposition') ?? '')
      const [name, filename] = [parameters.get('name'), parameters.get('filename')]
      if (name === undefined) {
        throw refusal('The Content-Disposition header field "name" must be provided.')
      }
      // A part with a `filename`, even an empty one, is a file.
      this.#count(filename === undefined ? 'fields' : 'files')
      if (filename === undefined) {
        const text = await readWhole(data, VALUE_LIMIT, tooLong('Part'))
        await this.#keep(name, text.toString())
      } else if (this.#types.has(name)) {
        await this.#keep(name, await this.#readFile(filename, headers.get('content-type'), data))
      }
    }
  }

  async #readFile(filename: string, type: string | undefined, data: Chunks): Promise<UploadFile> {
    // Of a path from Windows only the last name is told.
    const file = await UploadFile.create(filename.replace(/^(?:.:|\\)\\(?:.*\\)?/s, ''), type)
    this.#files.push(file)
    for await (const bytes of data) await file.write(bytes)
    await file.seek(0)
    return file
  }

  async #readPairs(bytes: Buffer): Promise<void> {
    for (const [pair] of bytes.toString().matchAll(/[^&]+/g)) {
      this.#count('fields')
      if (pair.length - pair.indexOf('=') > VALUE_LIMIT + 1) throw tooLong('Field')
      for (const [name, value] of new URLSearchParams(pair)) await this.#keep(name, value)
    }
  }

  async #keep(name: string, value: string | UploadFile): Promise<void> {
    const type = this.#types.get(name)
    if (type === undefined) return
    if (typeof value === 'string') this.#counts.bytes += value.length
    if (this.#counts.bytes > BODY_LIMIT) throw tooLarge()
    const values = this.values.get(name) ?? []
    const earlier = type === 'array' ? undefined : values.pop()
    this.values.set(name, [...values, value])
    if (earlier instanceof UploadFile) await earlier.close()
  }

  #count(kind: 'fields' | 'files'): void {
    this.#counts[kind] += 1
    if (this.#counts[kind] <= PART_LIMIT) return
    throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
  }
}

/** Reads all there is. Beyond the limit it throws: 413 if nothing else is said. */
export async function readWhole(chunks: Chunks, limit = BODY_LIMIT, error = tooLarge()) {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > limit) throw error
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

/** What the data of a part ends with when the body ends too early. */
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

  /** What comes before the next delimiter: the data of a part, or what precedes all of them. */
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

  // Line breaks may stand before the first delimiter, nothing else.
  for await (const piece of data(false)) if (/[^\r\n]/.test(String(piece))) throw broken()
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
  return new Map(found.map(one => [one?.[1]?.toLowerCase() ?? '', one?.[2]?.trim() ?? '']))
}

const PARAMETER = /\s*([^\s=;"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*)))?[^;]*|[^;]+/gs

// Takes a header value such as `form-data; name="file"` apart; the last of a name wins. In quotes,
// `\"` and `\\` are undone and nothing else, so `%22` stays. A bare name has the value `""`.
function parseHeaderValue(header: string) {
  const [value = ''] = header.split(';', 1)
  const parameters = new Map<string, string>()
  for (const [, name, quoted, plain = ''] of header.slice(value.length).matchAll(PARAMETER)) {
    const text = quoted?.replace(/\\(["\\])/g, '$1') ?? plain.trim()
    if (name !== undefined) parameters.set(name.toLowerCase(), text)
  }
  return { value: value.trim().toLowerCase(), parameters }
}

const refusal = (message: string) => new HTTPException(400, { message })
const broken = () => refusal('Invalid multipart data.')
const tooLong = (what: string) => refusal(`${what} exceeded maximum size of 1024KB.`)
const tooLarge = () => new HTTPException(413, { message: 'Request body too large' })
