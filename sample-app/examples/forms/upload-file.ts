import * as v from 'valibot'

/** An uploaded file: bytes with one position for reading and writing, which starts at 0. */
export class UploadFile {
  /** From the client: a name to show and never to open, and perhaps a type. */
  readonly filename: string
  readonly content_type: string | null
  /** The temporary file: FastAPI has it in an object of its own, here it is the upload itself. */
  readonly file = this
  #bytes: Blob | undefined
  #position = 0

  constructor(file: File) {
    this.filename = file.name
    this.content_type = file.type || null
    this.#bytes = file
  }

  /** At most `size` bytes, by default all that are left; none at the end. */
  async read(size = -1): Promise<Uint8Array> {
    const end = size < 0 ? undefined : this.#position + size
    const bytes = await this.#opened().slice(this.#position, end).arrayBuffer()
    this.#position += bytes.byteLength
    return new Uint8Array(bytes)
  }

  /** Overwrites at the position, or appends at the end. A blob is not changed but composed anew. */
  async write(data: Uint8Array<ArrayBuffer> | string): Promise<void> {
    const [bytes, from, piece] = [this.#opened(), this.#position, new Blob([data])]
    const gap = new Uint8Array(Math.max(0, from - bytes.size))
    this.#position += piece.size
    this.#bytes = new Blob([bytes.slice(0, from), gap, piece, bytes.slice(this.#position)])
  }

  /** Moves to a byte, counted from 0; it may lie beyond the end. */
  async seek(offset: number): Promise<void> {
    this.#opened()
    if (!Number.isSafeInteger(offset) || offset < 0) throw new RangeError(`no offset: ${offset}`)
    this.#position = offset
  }

  async close(): Promise<void> {
    this.#bytes = undefined
  }

  #opened(): Blob {
    if (this.#bytes) return this.#bytes
    throw new Error('the file is closed')
  }
}

const words = "Value error, Expected UploadFile, received: <class 'str'> | value_error | error"
const toUpload = v.transform((file: File) => new UploadFile(file))
/** A form with a file. `v.file()` takes one of Fetch; a step of the pipe makes it an upload. */
export const Upload = v.object({ file: v.pipe(v.file(words), toUpload) })
