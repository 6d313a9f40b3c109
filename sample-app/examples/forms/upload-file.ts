import * as v from 'valibot'

type Data = Uint8Array<ArrayBuffer> | string

/** Bytes with one position for reading and writing, which starts at 0. */
export class TemporaryFile {
  #bytes: Blob | undefined
  #position = 0

  constructor(bytes: Blob) {
    this.#bytes = bytes
  }

  get size() {
    return this.#opened().size
  }

  /** At most `size` bytes, by default all that are left; none at the end. */
  async read(size = -1): Promise<Uint8Array> {
    const rest = this.#opened().slice(this.#position)
    const bytes = await (size < 0 ? rest : rest.slice(0, whole(size))).arrayBuffer()
    this.#position += bytes.byteLength
    return new Uint8Array(bytes)
  }

  /** Overwrites at the position, or appends at the end. A blob is not changed but composed anew. */
  write(data: Data): void {
    const [bytes, from, piece] = [this.#opened(), this.#position, new Blob([data])]
    const gap = new Uint8Array(Math.max(0, from - bytes.size))
    this.#position += piece.size
    this.#bytes = new Blob([bytes.slice(0, from), gap, piece, bytes.slice(this.#position)])
  }

  /** Moves to a byte, counted from 0; it may lie beyond the end. */
  seek(offset: number): void {
    this.#opened()
    this.#position = whole(offset)
  }

  close(): void {
    this.#bytes = undefined
  }

  #opened(): Blob {
    if (this.#bytes) return this.#bytes
    throw new Error('the file is closed')
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
  write = async (data: Data) => this.file.write(data)
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
