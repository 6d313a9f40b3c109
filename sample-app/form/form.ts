import { HTTPException } from 'hono/http-exception'
import { decodeText, readMultipart } from './multipart.ts'
import { UploadFile } from './upload-file.ts'

/** The most bytes of a body that is kept in memory: 16 MiB. Files are streamed and have no limit. */
export const BODY_LIMIT = 16 * 1024 * 1024
/** The most fields, and the most files, that one form may have. */
const PART_LIMIT = 1000
/** The most bytes of one value that is not a file, and of a name. */
const [VALUE_LIMIT, NAME_LIMIT] = [1024 * 1024, 16 * 1024]

type Chunks = AsyncIterable<Uint8Array>
/** Valibot's types of the declared fields; the rest of a form is counted and not kept. */
type Fields = ReadonlyMap<string, string>
/** The part that is being received: a file, or the pieces of a text. */
type Part = { name: string; file: UploadFile | undefined; text: Uint8Array[]; size: number }

/**
 * Reads a form, urlencoded or multipart. A body of another type is a form without fields: what is
 * required is then missing, never 415.
 * @throws HTTPException 400 for broken data and beyond the limits; no file is left open then
 */
export async function readForm(chunks: Chunks, contentType: string, fields: Fields): Promise<Form> {
  const { value: type, parameters } = parseHeaderValue(contentType)
  const form = new Form(fields)
  try {
    if (type === 'multipart/form-data') await form.readParts(chunks, parameters.get('boundary'))
    if (type === 'application/x-www-form-urlencoded') form.readPairs(await readWhole(chunks))
    return form
  } catch (error) {
    await form.close()
    throw error
  }
}

/** The values of the declared fields: every one of a list, of any other the last. */
export class Form {
  readonly values = new Map<string, (string | UploadFile)[]>()
  readonly #fields: Fields
  readonly #files = new Set<UploadFile>()
  readonly #counts = { fields: 0, files: 0, bytes: 0 }

  constructor(fields: Fields) {
    this.#fields = fields
  }

  /** A part with a `filename`, even an empty one, is a file. One that is cut off does not count. */
  async readParts(chunks: Chunks, boundary = ''): Promise<void> {
    if (boundary === '') throw refusal('Missing boundary in multipart.')
    let part: Part | undefined
    for await (const event of readMultipart(chunks, boundary)) {
      if (event.kind === 'part') part = this.#begin(event.headers)
      else if (!part) continue
      else if (event.kind === 'data') await this.#receive(part, event.bytes)
      else {
        const earlier = this.#keep(part.name, part.file ?? decodeText(Buffer.concat(part.text)))
        await part.file?.seek(0)
        if (earlier instanceof UploadFile) await earlier.close()
      }
    }
  }

  readPairs(bytes: Buffer): void {
    for (const [pair] of bytes.toString().matchAll(/[^&]+/g)) {
      this.#count('fields')
      const equals = `${pair}=`.indexOf('=')
      if (equals > NAME_LIMIT || pair.length - equals > VALUE_LIMIT + 1) throw tooLong('Field')
      for (const [name, value] of new URLSearchParams(pair)) this.#keep(name, value)
    }
  }

  /** Closes every file, which also removes what was spooled to disk. */
  async close(): Promise<void> {
    for (const file of this.#files) await file.close()
  }

  #begin(headers: ReadonlyMap<string, string>): Part {
    const { parameters } = parseHeaderValue(headers.get('content-disposition') ?? '')
    const [name, filename] = [parameters.get('name'), parameters.get('filename')]
    if (name === undefined) {
      throw refusal('The Content-Disposition header field "name" must be provided.')
    }
    const part: Part = { name, file: undefined, text: [], size: 0 }
    this.#count(filename === undefined ? 'fields' : 'files')
    if (filename === undefined) return part
    // Of a path from Windows only the last name is told.
    const last = filename.replace(/^(?:.:|\\)\\(?:.*\\)?/s, '')
    part.file = new UploadFile(last, headers.get('content-type') ?? null)
    this.#files.add(part.file)
    return part
  }

  async #receive(part: Part, bytes: Uint8Array): Promise<void> {
    part.size += bytes.length
    const wanted = this.#fields.get(part.name)
    // A file where text is declared is refused later on; until then only its name matters.
    if (part.file) return wanted === 'instance' ? part.file.write(bytes) : undefined
    if (part.size > VALUE_LIMIT) throw tooLong('Part')
    if (!wanted) return
    this.#counts.bytes += bytes.length
    if (this.#counts.bytes > BODY_LIMIT) throw refusal('Request body too large', 413)
    part.text.push(Buffer.from(bytes))
  }

  #count(kind: 'fields' | 'files'): void {
    this.#counts[kind] += 1
    if (this.#counts[kind] <= PART_LIMIT) return
    throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
  }

  /** Returns the value whose place was taken. */
  #keep(name: string, value: string | UploadFile): string | UploadFile | undefined {
    const wanted = this.#fields.get(name)
    const values = this.values.get(name) ?? []
    const earlier = wanted === 'array' ? undefined : values.pop()
    if (wanted) this.values.set(name, [...values, value])
    return earlier
  }
}

/**
 * Reads a body whole.
 * @throws HTTPException 413 beyond the limit
 */
export async function readWhole(chunks: Chunks): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > BODY_LIMIT) throw refusal('Request body too large', 413)
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

const PARAMETER = /\s*([^\s=;"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*)))?[^;]*|[^;]+/gs

/**
 * Takes a header value such as `form-data; name="file"` apart. Names are in lower case, the last of
 * a name wins. Quoted values have `\"` and `\\` undone and nothing else, so `%22` stays as it was
 * sent; unquoted values are accepted, a bare name has the value `""`.
 */
function parseHeaderValue(header: string) {
  const [value = ''] = header.split(';', 1)
  const parameters = new Map<string, string>()
  for (const [, name, quoted, plain = ''] of header.slice(value.length).matchAll(PARAMETER)) {
    const text = quoted?.replace(/\\(["\\])/g, '$1') ?? plain.trim()
    if (name !== undefined) parameters.set(name.toLowerCase(), text)
  }
  return { value: value.trim().toLowerCase(), parameters }
}

function tooLong(what: string) {
  return refusal(`${what} exceeded maximum size of ${VALUE_LIMIT / 1024}KB.`)
}

function refusal(message: string, status: 400 | 413 = 400) {
  return new HTTPException(status, { message })
}
