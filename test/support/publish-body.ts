/** The body of a publish request; the inverse of `decodePublish`. */
export function encodePublish(metadata: unknown, crate: Uint8Array): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(metadata))
  return Buffer.concat([u32(json.byteLength), json, u32(crate.byteLength), crate])
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
