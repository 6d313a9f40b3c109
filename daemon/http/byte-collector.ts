const LEAST = 1024

/** Collects chunks in one buffer: to keep a chunk of one byte by itself takes hundreds of bytes. */
export class ByteCollector {
  #memory: Uint8Array = new Uint8Array(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  add(chunk: Uint8Array): void {
    const size = this.#size + chunk.byteLength
    if (this.#size === 0) this.#memory = chunk
    else {
      if (size > this.#memory.byteLength) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * size, LEAST))
        larger.set(this.#memory.subarray(0, this.#size))
        this.#memory = larger
      }
      this.#memory.set(chunk, this.#size)
    }
    this.#size = size
  }

  take(): Buffer {
    const { buffer, byteOffset } = this.#memory
    const bytes = Buffer.from(buffer, byteOffset, this.#size)
    this.#memory = new Uint8Array(0)
    this.#size = 0
    return bytes
  }
}

/** Yields the bytes of `source` in chunks of at least `least` bytes, except for the last one. */
export async function* inLargerChunks(
  source: AsyncIterable<Uint8Array>,
  least: number,
): AsyncIterable<Uint8Array> {
  const held = new ByteCollector()
  for await (const chunk of source) {
    held.add(chunk)
    if (held.size >= least) yield held.take()
  }
  if (held.size > 0) yield held.take()
}
