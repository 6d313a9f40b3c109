import { refusal } from '../wire/response.ts'
import type { FormFields, FormValue } from './form-fields.ts'
import { decodeHeader, parseHeaderValue } from './header-value.ts'
import { PART_LIMIT, VALUE_LIMIT } from './limits.ts'
import { readMultipart } from './multipart.ts'
import { SpooledFile } from './spooled-file.ts'
import { UploadFile } from './upload-file.ts'

/**
 * Reads a `multipart/form-data` body. A part with a `filename`, even an empty one, is a file, any other is text; the last
 * part of a name wins. What is not declared is counted and skipped, so memory stays bounded by the declared fields.
 * A part that is cut off does not count. On failure every file read so far is closed and removed.
 * @throws 400 for a missing boundary, broken data, a part without a name, more than 1000 fields or files, text beyond 1 MiB
 */
export async function readMultipartForm(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  fields: FormFields,
): Promise<Map<string, FormValue>> {
  if (boundary === '') throw refusal(400, 'Missing boundary in multipart.')
  const form = new FormBuilder(fields)
  try {
    for await (const event of readMultipart(chunks, boundary)) {
      if (event.kind === 'part') form.begin(event.headers)
      else if (event.kind === 'data') await form.write(event.bytes)
      else await form.end()
    }
    await form.drop()
    return form.values
  } catch (error) {
    await form.drop()
    for (const value of form.values.values()) if (typeof value !== 'string') await value.close()
    throw error
  }
}

/** The part that is being received. */
interface Part {
  readonly name: string
  readonly isFile: boolean
  /** Where a kept file's bytes go. */
  readonly upload?: UploadFile
  /** What a kept text consists of so far. */
  readonly text?: Buffer[]
  size: number
}

class FormBuilder {
  readonly values = new Map<string, FormValue>()
  readonly #fields: FormFields
  #part: Part | undefined
  #texts = 0
  #files = 0

  constructor(fields: FormFields) {
    this.#fields = fields
  }

  begin(headers: ReadonlyMap<string, string>): void {
    const { parameters } = parseHeaderValue(headers.get('content-disposition') ?? '')
    const name = parameters.get('name')
    if (name === undefined) throw refusal(400, 'The Content-Disposition header field "name" must be provided.')
    const filename = parameters.get('filename')
    if (filename === undefined) this.#texts += 1
    else this.#files += 1
    if (this.#files > PART_LIMIT) throw refusal(400, `Too many files. Maximum number of files is ${PART_LIMIT}.`)
    if (this.#texts > PART_LIMIT) throw refusal(400, `Too many fields. Maximum number of fields is ${PART_LIMIT}.`)
    const part = { name, isFile: filename !== undefined, size: 0 }
    const wanted = this.#fields.get(name)
    if (wanted === undefined) this.#part = part
    else if (filename === undefined) this.#part = { ...part, text: [] }
    else
      this.#part = { ...part, upload: new UploadFile(filename, headers.get('content-type') ?? null, new SpooledFile()) }
  }

  async write(bytes: Uint8Array): Promise<void> {
    const part = this.#part
    if (!part) return
    part.size += bytes.length
    if (!part.isFile && part.size > VALUE_LIMIT) {
      throw refusal(400, `Part exceeded maximum size of ${VALUE_LIMIT / 1024}KB.`)
    }
    part.text?.push(Buffer.from(bytes))
    // A file that arrives where text is declared is refused later on; until then only its name matters.
    if (this.#fields.get(part.name) === 'file') await part.upload?.write(bytes)
  }

  async end(): Promise<void> {
    const part = this.#part
    this.#part = undefined
    const value = part?.upload ?? (part?.text && decodeHeader(Buffer.concat(part.text)))
    if (!part || value === undefined) return
    const earlier = this.values.get(part.name)
    this.values.set(part.name, value)
    if (earlier !== undefined && typeof earlier !== 'string') await earlier.close()
    if (typeof value !== 'string') await value.seek(0)
  }

  /** Forgets the part that has not ended. */
  async drop(): Promise<void> {
    const part = this.#part
    this.#part = undefined
    await part?.upload?.close()
  }
}
