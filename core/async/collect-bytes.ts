/** Returns all bytes; null when there are more than `max`. */
export async function collectBytes(
  bytes: AsyncIterable<Uint8Array>,
  max: number,
): Promise<Buffer | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of bytes) {
    size += part.length
    if (size > max) return null
    parts.push(part)
  }
  return Buffer.concat(parts)
}
