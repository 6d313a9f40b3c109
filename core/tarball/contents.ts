import { Refusal } from '../error/error.ts'
import { gather } from './bytes.ts'
import { walkTar } from './walk.ts'

/** A file of a `.crate` with its bytes; null for one that was too large to be read. */
export interface ContentFile {
  /** Path below the top folder. */
  readonly path: string
  readonly size: number
  readonly content: Uint8Array | null
}

/** Limits on the bytes read from one file and from all, and on what is unpacked to find them. */
export interface ContentLimits {
  readonly fileBytes: number
  readonly bytes: number
  readonly unpackedBytes: number
}

/** Most files that are read. */
const FILES_MAX = 100_000

/**
 * The files of a `.crate`, in the order of the archive, as far as it can be read: an import accepts
 * what its users build with, even where a publish would be refused.
 */
export async function readContents(
  open: () => AsyncIterable<Uint8Array>,
  limits: ContentLimits,
): Promise<ContentFile[]> {
  const files = new Map<string, ContentFile>()
  let left = limits.bytes
  const walk = walkTar(
    open(),
    limits.unpackedBytes,
    [],
    async ({ path: full, kind, size }, read) => {
      if (kind !== 'file') return 'go on'
      const isTaken = size <= limits.fileBytes && size <= left
      const content = isTaken ? await gather(read()) : null
      if (isTaken) left -= size
      const path = full.slice(full.indexOf('/') + 1)
      files.set(path, { path, size, content })
      return files.size < FILES_MAX ? 'go on' : 'stop'
    },
  )
  await walk.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
  })
  return [...files.values()]
}
