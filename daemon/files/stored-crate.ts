import type { Context } from 'hono'
import type { Name } from '../../core/name.ts'
import { crateFilePath, crateKey } from '../../core/paths/crates.ts'
import type { Version } from '../../core/version.ts'
import type { OpenFile } from '../../generator/places/place.ts'
import { findCrate } from '../../generator/records/crates.ts'
import { findRelease } from '../../generator/records/releases.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { StreamFromBucket } from './bucket-streams.ts'
import { choose, type FileAnswer, isReader, variantOf } from './file-answer.ts'
import { type FileHeaders, fileHeaders, keyHeaderOf } from './file-headers.ts'
import type { Part } from './file-part.ts'

/** Answers the download of a release from the crate store; null if there is no such `.crate`. */
export type StoredCrate = (
  c: Context,
  release: { readonly name: Name; readonly version: Version },
) => Promise<Response | null>

/** How long a presigned address holds, in seconds: Cargo follows it at once. */
const PRESIGNED_SECONDS = 900

/**
 * Returns what answers downloads whose `.crate` is not in the public tree: streams it or, from a
 * bucket, redirects to that or a CDN before it, as the setting `storage.downloads` says.
 */
export function storedCrates(
  registry: Registry,
  stream: StreamFromBucket,
  onDownload?: (path: string) => void,
): StoredCrate {
  const { crates, database, settings } = registry
  const downloads = crates.isLocal ? 'stream' : settings.storage.downloads
  const headersOf = fileHeaders({ keyHeader: keyHeaderOf(settings) })
  return async (c, { name, version }) => {
    const crate = await findCrate(database, name)
    const release = crate && (await findRelease(database, crate.id, version))
    if (!crate || !release || crate.name !== name || release.version !== version) return null
    const key = crateKey(crate.name, release.cksum)
    const path = crateFilePath(crate.name, release.version)
    const answer = crateAnswer(c, path, release, headersOf)
    if (answer.body === null) return new Response(null, answer)
    const address =
      downloads === 'presign'
        ? await crates.place.presigned?.(key, PRESIGNED_SECONDS)
        : `${downloads}/${key}`
    if (downloads !== 'stream' && address !== undefined) {
      if (!isReader(c.req)) onDownload?.(path)
      const headers = { location: address, 'cache-control': 'private, no-store' }
      return new Response(null, { status: 302, headers })
    }
    return streamCrate(c, stream, answer, async part => {
      const file = await crates.open(key, part)
      if (file && answer.download !== undefined) onDownload?.(answer.download)
      return file
    })
  }
}

/** Sends the bytes of an answer, which `open` opens in whole or in part; null if there are none. */
export async function streamCrate(
  c: Context,
  stream: StreamFromBucket,
  answer: FileAnswer<Part>,
  open: (part?: Part) => Promise<OpenFile | null>,
): Promise<Response | null> {
  const { status, body } = answer
  if (body === null || Buffer.isBuffer(body)) return new Response(null, answer)
  return stream(c, async () => {
    const file = await open(status === 206 ? body : undefined)
    return file && { bytes: file.bytes, size: body.end - body.start + 1, answer }
  })
}

/** Returns the answer to a request for a `.crate`, whose body is what of it was asked for. */
export function crateAnswer(
  c: Context,
  path: string,
  { cksum, size }: { readonly cksum: string; readonly size: number },
  headersOf: FileHeaders,
): FileAnswer<Part> {
  const tag = cksum.slice(0, 32)
  const headers = { ...headersOf(path, tag), 'accept-ranges': 'bytes' }
  const whole: Part = { start: 0, end: size - 1 }
  return choose(variantOf(path, headers, whole), tag, c.req)
}
