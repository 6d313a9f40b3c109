import * as v from 'valibot'
import { refuse } from '../../core/error/error.ts'
import { ByteCollector, inLargerChunks } from '../http/byte-collector.ts'

/** The least bytes of a `.crate` that are passed on together. */
const CHUNK_BYTES = 16 * 1024

export interface PublishBody {
  /** JSON, for `parseJson`. */
  readonly metadata: Uint8Array
  /** The bytes of the `.crate`, to be read once; at their end it refuses any further bytes. */
  readonly crate: AsyncIterable<Uint8Array>
}

/**
 * Decodes the body of a publish request: u32 LE length, JSON, u32 LE length, `.crate` and no more
 * (specification section 4). Refuses wrong lengths, that of the `.crate` while `crate` is read.
 */
export async function decodePublish(
  source: AsyncIterable<Uint8Array>,
  limits: { readonly metadataBytes: number; readonly crateBytes: number },
): Promise<PublishBody> {
  const read = reader(source)
  const jsonLength = await length(read, 'metadata')
  if (jsonLength > limits.metadataBytes)
    refuse('metadata_too_big', { size: jsonLength, max: limits.metadataBytes })
  const metadata = await whole(read, 'metadata', jsonLength)
  return { metadata, crate: last(read, '.crate', limits.crateBytes) }
}

async function length(read: Read, part: string): Promise<number> {
  return (await whole(read, `length of the ${part}`, 4)).readUInt32LE()
}

/** Parses the metadata; refuses invalid JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return refuse('metadata_invalid', { reason: (error as Error).message })
  }
}

async function whole(read: Read, part: string, announced: number): Promise<Buffer> {
  const bytes = new ByteCollector()
  for await (const chunk of chunksOf(read, part, announced)) bytes.add(chunk)
  return bytes.take()
}

async function* last(read: Read, part: string, max: number): AsyncIterable<Uint8Array> {
  const announced = await length(read, part)
  if (announced > max) refuse('crate_too_big', { max })
  // Each chunk is a step of its own when it is written.
  yield* inLargerChunks(chunksOf(read, part, announced), CHUNK_BYTES)
  if (await read(1)) refuse('body_long', { announced })
}

async function* chunksOf(read: Read, part: string, announced: number): AsyncIterable<Uint8Array> {
  let missing = announced
  while (missing > 0) {
    const chunk = await read(missing)
    if (!chunk) return refuse('body_short', { part, announced })
    missing -= chunk.byteLength
    yield chunk
  }
}

/** Returns between one and `size` bytes, or null at the end of the stream. */
type Read = (size: number) => Promise<Uint8Array | null>

function reader(source: AsyncIterable<Uint8Array>): Read {
  const chunks = source[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array(0)
  return async size => {
    while (rest.byteLength === 0) {
      const next = await chunks.next()
      if (next.done) return null
      rest = next.value
    }
    const piece = rest.subarray(0, size)
    rest = rest.subarray(size)
    return piece
  }
}

/** What crates.io takes to yank or unyank a version, and to say why. */
export const yankBody = v.object({
  version: v.object({ yanked: v.optional(v.boolean()), yank_message: v.nullish(v.string()) }),
})

/** What is said of the versions that fit a requirement. */
export const deprecationBody = v.object({
  requirement: v.optional(v.string(), '*'),
  reason: v.string(),
  use: v.nullish(v.string()),
})
