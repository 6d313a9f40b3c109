import { refuse } from '../error/error.ts'

/** Reads exact numbers of bytes from a stream; refuses more than `limit` bytes in total. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #limit: number
  #piece: Uint8Array = new Uint8Array(0)
  #received = 0

  constructor(source: AsyncIterable<Uint8Array>, limit: number) {
    this.#source = source[Symbol.asyncIterator]()
    this.#limit = limit
  }

  /** Reads exactly `length` bytes; null at the end of the stream. Throws if it ends within them. */
  async take(length: number): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = []
    let missing = length
    while (missing > 0) {
      if (!(await this.#fill())) {
        if (missing === length) return null
        refuse('archive_cut_off')
      }
      const part = this.#cut(missing)
      parts.push(part)
      missing -= part.length
    }
    return joined(parts)
  }

  /** Reads at least one and at most `most` bytes, as many as are available. */
  async upTo(most: number): Promise<Uint8Array> {
    if (!(await this.#fill())) refuse('archive_cut_off')
    return this.#cut(most)
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0; ) left -= (await this.upTo(left)).length
  }

  async expectZeros(): Promise<void> {
    while (await this.#fill()) {
      if (this.#cut(this.#piece.length).some(byte => byte !== 0)) refuse('archive_trailing_data')
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  #cut(most: number): Uint8Array {
    const part = this.#piece.subarray(0, most)
    this.#piece = this.#piece.subarray(part.length)
    return part
  }

  /** Reads the next piece; false at the end. All bytes of the stream count toward the limit. */
  async #fill(): Promise<boolean> {
    while (this.#piece.length === 0) {
      const next = await this.#source.next()
      if (next.done) return false
      this.#received += next.value.length
      if (this.#received > this.#limit) refuse('archive_too_large', { max: this.#limit })
      this.#piece = next.value
    }
    return true
  }
}

/** Joins all pieces of a stream. */
export async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(piece)
  return joined(parts)
}

/** Joins pieces of bytes; browsers have no `Buffer`. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (parts.length === 1 && first) return first
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8; null if it is invalid. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return null
  }
}
