/**
 * Which of 4,096 neighboring crates a word finds: a bit for each. As bytes, few bits are a list of
 * their places (16 bits each, little-endian), many are the bits themselves. A list is always
 * shorter.
 */
export const POSTING_BLOCK_CRATES = 4096
const BYTES = POSTING_BLOCK_CRATES / 8
export const BLOCK_WORDS = POSTING_BLOCK_CRATES / 32

/** The block a crate is in, and its place there. */
export function placeInBlock(crateId: number): { block: number; place: number } {
  return {
    block: Math.floor(crateId / POSTING_BLOCK_CRATES),
    place: crateId % POSTING_BLOCK_CRATES,
  }
}

/** Sets the bits of a block in `bits`, from the 32-bit word `start` on. */
export function readBlock(bytes: Uint8Array, bits: Uint32Array, start: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length === BYTES) {
    for (let word = 0; word < BLOCK_WORDS; word++)
      bits[start + word] = (bits[start + word] ?? 0) | view.getUint32(word * 4, true)
    return
  }
  for (let at = 0; at < bytes.length; at += 2) {
    const place = view.getUint16(at, true)
    const word = start + (place >>> 5)
    bits[word] = (bits[word] ?? 0) | (1 << (place & 31))
  }
}

/** The places of the bits that are set, ascending. */
export function placesOf(bytes: Uint8Array): number[] {
  const bits = new Uint32Array(BLOCK_WORDS)
  readBlock(bytes, bits, 0)
  const places: number[] = []
  for (let place = 0; place < POSTING_BLOCK_CRATES; place++)
    if ((bits[place >>> 5] ?? 0) & (1 << (place & 31))) places.push(place)
  return places
}

/** The bytes of a block with these places. */
export function writeBlock(places: Iterable<number>): Buffer {
  const all = [...new Set(places)].sort((a, b) => a - b)
  if (all.length * 2 < BYTES) {
    const list = Buffer.alloc(all.length * 2)
    for (const [at, place] of all.entries()) list.writeUInt16LE(place, at * 2)
    return list
  }
  const bits = Buffer.alloc(BYTES)
  for (const place of all) bits[place >>> 3] = (bits[place >>> 3] ?? 0) | (1 << (place & 7))
  return bits
}
