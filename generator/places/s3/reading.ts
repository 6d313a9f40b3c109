import type { Readable } from 'node:stream'
import { refuse } from '../../../core/error/error.ts'

/** Errors of the network: no connection, none any more, or one that cannot be trusted. */
const OF_NETWORK = [
  /^E(?:CONN\w+|PIPE|PROTO|TIMEDOUT|NOTFOUND|AI_AGAIN|(?:HOST|NET)UNREACH|NETDOWN)$/,
  /^(?:ERR_STREAM_PREMATURE_CLOSE|(?:ERR_(?:TLS|SSL)|HPE|UNABLE)_\w+|\w*CERT\w*)$/,
]

/** Runs work that reads from a bucket; refuses when the connection breaks. */
export async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    return refuseBroken(error)
  }
}

/** Throws a refusal for a connection that broke, or for missing keys; other errors as they are. */
export function refuseBroken(error: unknown): never {
  const { name, message, code = '' } = error as NodeJS.ErrnoException
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError')
    return refuse('bucket_keys_missing', { reason: message })
  if (name === 'TimeoutError' || OF_NETWORK.some(pattern => pattern.test(code)))
    return refuse('bucket_unreachable', { reason: message || code })
  throw error
}

/** Reads an object of at most `max` bytes; throws an error for a longer or a broken one. */
export async function readBody(bytes: Readable, max: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of bytes as AsyncIterable<Buffer>) {
    size += part.byteLength
    if (size > max) {
      bytes.destroy()
      throw new Error(`an object of the storage is longer than ${max} bytes`)
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}
