import * as v from 'valibot'

/** Bytes with one position for reading and writing, which starts at 0. */
export class TemporaryFile {
  #bytes: Blob
  #position = 0
  #isOpen = true

  constructor(bytes: Blob) {
    this.#bytes = bytes
  }

  get size() {
    return this.#bytes.size
  }

  /** At most `size` bytes, by default all that are left; none at the end. */
  async read(size = -1): Promise<Uint8Array> {
    const from = this.#opened()
    const to = size < 0 ? this.size : from + whole(size)
    const bytes = new Uint8Array(await this.#bytes.slice(from, to).arrayBuffer())
    this.#position = from + bytes.length
    return bytes
  }

  /** Overwrites at the position, or appends at the end. A blob is not changed but composed anew. */
  write(data: Uint8Array<ArrayBuffer> | string): void {
    const from = this.#opened()
    const gap = new Uint8Array(Math.max(0, from - this.size))
    const piece = new Blob([data])
    const [before, after] = [this.#bytes.slice(0, from), this.#bytes.slice(from + piece.size)]
    this.#bytes = new Blob([before, gap, piece, after])
    this.#position = from + piece.size
  }

  /** Moves to a byte, counted from 0; it may lie beyond the end. */
  seek(offset: number): void {
    this.#opened()
    this.#position = whole(offset)
  }

  close(): void {
    this.#isOpen = false
    this.#bytes = new Blob([])
  }

  #opened(): number {
    if (!this.#isOpen) throw new Error('the file is closed')
    return this.#position
  }
}

/** An uploaded file, with the names that FastAPI gives to its parts. */
export class UploadFile {
  readonly file: TemporaryFile
  /** From the client: a name to show and never to open, and perhaps a type. */
  readonly filename: string
  readonly content_type: string | null

  constructor(file: File) {
    this.file = new TemporaryFile(file)
    this.filename = file.name
    this.content_type = file.type || null
  }

  read = async (size?: number) => this.file.read(size)
  write = async (data: Uint8Array<ArrayBuffer> | string) => this.file.write(data)
  seek = async (offset: number) => this.file.seek(offset)
  close = async () => this.file.close()
}

const words = "Value error, Expected UploadFile, received: <class 'str'> | value_error | error"
/** `v.file()` takes a file of Fetch; a step of the pipe makes it an upload. */
export const upload = v.pipe(
  v.file(words),
  v.transform(file => new UploadFile(file)),
)

function whole(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new RangeError(`a size or an offset must be a whole number, not ${value}`)
}
