import { deflateSync } from 'node:zlib'

/** A PNG of one color; `claim` is the size in its header. */
export function png(shade: number, claim: readonly [number, number] = [8, 4]): Buffer {
  const chunk = (type: string, data: Uint8Array) => {
    const head = Buffer.alloc(4)
    head.writeUInt32BE(data.byteLength)
    const body = Buffer.concat([Buffer.from(type), data])
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc(body))
    return Buffer.concat([head, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(claim[0], 0)
  header.writeUInt32BE(claim[1], 4)
  header[8] = 8
  const rows = Buffer.concat(Array.from({ length: 4 }, () => Buffer.alloc(9, shade).fill(0, 0, 1)))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The checksum of PNG chunks (RFC 2083 appendix 15). */
function crc(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return (sum ^ 0xffffffff) >>> 0
}
