import { createHash } from 'node:crypto'

/** Returns the SHA-256 of bytes, or of text in UTF-8, in lowercase hex. */
export function sha256(bytes: string | Uint8Array): string {
  return sha256Bytes(bytes).toString('hex')
}

/** Returns the 32 bytes of the SHA-256 of bytes, or of text in UTF-8. */
export function sha256Bytes(bytes: string | Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** Returns the SHA-256 of bytes that come in parts, in lowercase hex. */
export async function sha256Of(parts: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of parts) hash.update(part)
  return hash.digest('hex')
}
