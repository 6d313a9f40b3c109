import { Refusal, refuse } from '../../generator/index.ts'

/** Limits on the parts of a publish request, in bytes. */
export interface PublishLimits {
  readonly metadataBytes: number
  readonly crateBytes: number
}

/** A publish request whose metadata has been read and whose `.crate` is still arriving. */
export interface PublishBody {
  /** The JSON as sent; not yet checked against any schema. */
  readonly metadata: unknown
  /** The bytes of the `.crate`, to be read once; at their end it refuses any further bytes. */
  readonly crate: AsyncIterable<Uint8Array>
}

/**
 * Decodes the body of a publish request: u32 LE length, JSON, u32 LE length, `.crate` and no more
 * (specification section 4). Refuses wrong lengths and invalid JSON; a wrong length of the `.crate`
 * is refused while `crate` is read.
 */
export async function decodePublish(
  source: AsyncIterable<Uint8Array>,
  limits: PublishLimits,
): Promise<PublishBody> {
  const reader = new Reader(source)
  const jsonLength = await length(reader, 'metadata')
  if (jsonLength > limits.metadataBytes)
    refuse('metadata_too_big', { size: jsonLength, max: limits.metadataBytes })
  const json = await reader.take(jsonLength)
  if (!json) return refuse('body_short', { part: 'metadata', announced: jsonLength })
  const metadata = parseJson(json)
  const crateLength = await length(reader, '.crate')
  if (crateLength > limits.crateBytes) refuse('crate_too_big', { max: limits.crateBytes })
  return { metadata, crate: exactly(reader, crateLength) }
}

async function length(reader: Reader, part: string): Promise<number> {
  const bytes = await reader.take(4)
  if (!bytes) return refuse('body_short', { part: `length of the ${part}`, announced: 4 })
  return Buffer.from(bytes.buffer, bytes.byteOffset, 4).readUInt32LE()
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof Refusal) throw error
    return refuse('metadata_invalid', { reason: (error as Error).message })
  }
}

async function* exactly(reader: Reader, announced: number): AsyncIterable<Uint8Array> {
  let missing = announced
  while (missing > 0) {
    const chunk = await reader.upTo(missing)
    if (!chunk) return refuse('body_short', { part: '.crate', announced })
    missing -= chunk.byteLength
    yield chunk
  }
  if (await reader.upTo(1)) refuse('body_long', { announced })
}

/** Reads a byte stream in pieces of any size; holds only one chunk and the current piece. */
class Reader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** Returns exactly `size` bytes, or null if the stream ends before. */
  async take(size: number): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = []
    for (let missing = size; missing > 0; ) {
      const part = await this.upTo(missing)
      if (!part) return null
      parts.push(part)
      missing -= part.byteLength
    }
    return Buffer.concat(parts)
  }

  /** Returns between one and `size` bytes, or null at the end of the stream. */
  async upTo(size: number): Promise<Uint8Array | null> {
    while (this.#rest.byteLength === 0) {
      const next = await this.#chunks.next()
      if (next.done) return null
      this.#rest = next.value
    }
    const part = this.#rest.subarray(0, size)
    this.#rest = this.#rest.subarray(part.byteLength)
    return part
  }
}
