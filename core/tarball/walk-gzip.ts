import type { Issue } from '../error/error.ts'
import { ByteReader } from './bytes.ts'
import { gunzip } from './gzip.ts'
import { walkTar } from './walk.ts'

/**
 * Walks the members of a gzipped tar as `walkTar` does, up to `unpackedBytes`; refuses data after
 * its end.
 */
export async function walkGzip(
  source: AsyncIterable<Uint8Array>,
  unpackedBytes: number,
  issues: Issue[],
  visit: Parameters<typeof walkTar>[2],
): Promise<void> {
  const bytes = new ByteReader(gunzip(source), unpackedBytes)
  try {
    if (await walkTar(bytes, issues, visit)) await bytes.expectZeros()
  } finally {
    await bytes.close()
  }
}
