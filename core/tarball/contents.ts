import { Refusal } from '../error/error.ts'
import { gather } from './bytes.ts'
import { walkTar } from './walk.ts'

/** A file of a `.crate` with its bytes; null for one that was too large to take along. */
export interface ContentFile {
  /** Path below the top folder. */
  readonly path: string
  readonly size: number
  readonly content: Uint8Array | null
}

/** Bounds of what is taken along, of one file and of all together, and of what is unpacked to find it. */
export interface ContentLimits {
  readonly fileBytes: number
  readonly bytes: number
  readonly unpackedBytes: number
}

/** More members than this are not looked at. */
const FILES_MAX = 100_000

/**
 * The files of a `.crate`, in the order of the archive, as far as it can be read: an import takes what its users build
 * with, also where a publish would be refused for the archive.
 */
export async function readContents(
  open: () => AsyncIterable<Uint8Array>,
  limits: ContentLimits,
): Promise<ContentFile[]> {
  const files: ContentFile[] = []
  let left = limits.bytes
  const walk = walkTar(open(), limits.unpackedBytes, [], async ({ path, kind, size }, read) => {
    if (kind !== 'file') return 'go on'
    const isTaken = size <= limits.fileBytes && size <= left
    const content = isTaken ? await gather(read()) : null
    if (isTaken) left -= size
    files.push({ path: path.slice(path.indexOf('/') + 1), size, content })
    return files.length < FILES_MAX ? 'go on' : 'stop'
  })
  await walk.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
  })
  return files
}
