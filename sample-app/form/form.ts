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
/** The part that is being received: a file, or the pieces of a text. */
type Part = { name: string; file: UploadFile | undefined; text: Uint8Array[]; size: number }

/**
 * A form: of the declared fields every value of a list, of any other the last. What is not declared
 * is counted and not kept.
 */
export class Form {
  readonly values = new Map<string, (string | UploadFile)[]>()
  readonly #fields: ReadonlyMap<string, string>
  readonly #files = new Set<UploadFile>()
  readonly #counts = { fields: 0, files: 0, bytes: 0 }

  /** @param fields the declared names, and Valibot's type of each */
  constructor(fields: ReadonlyMap<string, string>) {
    this.#fields = fields
  }

  /**
   * Reads it, urlencoded or multipart. A body of another type is a form without fields: what is
   * required is then missing, never 415.
   * @throws HTTPException 400 for broken data and beyond the limits
   */
  async read(chunks: Chunks, contentType: string): Promise<void> {
    const { value: type, parameters } = parseHeaderValue(contentType)
    if (type === 'multipart/form-data') await this.#readParts(chunks, parameters.get('boundary'))
    if (type === 'application/x-www-form-urlencoded') this.#readPairs(await readWhole(chunks))
  }

  /** Closes every file, which also removes what was spooled to disk. */
  async close(): Promise<void> {
    for (const file of this.#files) await file.close()
  }

  async #readParts(chunks: Chunks, boundary = ''): Promise<void> {
    if (boundary === '') throw refusal('Missing boundary in multipart.')
    let part: Part | undefined
    for await (const event of readMultipart(chunks, boundary)) {
      if (event instanceof Map) part = this.#begin(event)
      else if (event instanceof Buffer) await this.#receive(part as Part, event)
      else if (part) await this.#keepPart(part)
    }
  }

  #readPairs(bytes: Buffer): void {
    for (const [pair] of bytes.toString().matchAll(/[^&]+/g)) {
      this.#count('fields')
      const equals = `${pair}=`.indexOf('=')
      if (equals > NAME_LIMIT || pair.length - equals > VALUE_LIMIT + 1) throw tooLong('Field')
      for (const [name, value] of new URLSearchParams(pair)) this.#keep(name, value)
    }
  }

  /** A part with a `filename`, even an empty one, is a file. */
  #begin(headers: ReadonlyMap<string, string>): Part {
    const { parameters } = parseHeaderValue(headers.get('content-disposition') ?? '')
    const [name, filename] = [parameters.get('name'), parameters.get('filename')]
    if (name === undefined) {
      throw refusal('The Content-Disposition header field "name" must be provided.')
    }
    this.#count(filename === undefined ? 'fields' : 'files')
    if (filename === undefined) return { name, file: undefined, text: [], size: 0 }
    // Of a path from Windows only the last name is told.
    const last = filename.replace(/^(?:.:|\\)\\(?:.*\\)?/s, '')
    const file = new UploadFile(last, headers.get('content-type') ?? null)
    this.#files.add(file)
    return { name, file, text: [], size: 0 }
  }

  async #receive(part: Part, bytes: Buffer): Promise<void> {
    part.size += bytes.length
    const wanted = this.#fields.get(part.name)
    // A file where text is declared is refused later on; until then only its name matters.
    if (part.file) return wanted === 'instance' ? part.file.write(bytes) : undefined
    if (part.size > VALUE_LIMIT) throw tooLong('Part')
    if (!wanted) return
    this.#counts.bytes += bytes.length
    if (this.#counts.bytes > BODY_LIMIT) throw tooLarge()
    part.text.push(Buffer.from(bytes))
  }

  async #keepPart({ name, file, text }: Part): Promise<void> {
    const earlier = this.#keep(name, file ?? decodeText(Buffer.concat(text)))
    await file?.seek(0)
    if (earlier instanceof UploadFile) await earlier.close()
  }

  /** Returns the value whose place was taken. */
  #keep(name: string, value: string | UploadFile): string | UploadFile | undefined {
    const wanted = this.#fields.get(name)
    const values = this.values.get(name) ?? []
    const earlier = wanted === 'array' ? undefined : values.pop()
    if (wanted) this.values.set(name, [...values, value])
    return earlier
  }

  #count(kind: 'fields' | 'files'): void {
    this.#counts[kind] += 1
    if (this.#counts[kind] <= PART_LIMIT) return
    throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
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
    if (size > BODY_LIMIT) throw tooLarge()
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

const refusal = (message: string) => new HTTPException(400, { message })
const tooLong = (what: string) =>
  refusal(`${what} exceeded maximum size of ${VALUE_LIMIT / 1024}KB.`)
const tooLarge = () => new HTTPException(413, { message: 'Request body too large' })
