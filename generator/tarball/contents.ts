import { gather } from './bytes.ts'
import { walkTar } from './walk.ts'

/** A file of a `.crate` with its bytes; null for one that was too large to take along. */
export interface ContentFile {
  /** Path below the top folder. */
  readonly path: string
  readonly size: number
  readonly content: Uint8Array | null
}

/** Bounds of what is taken along: of one file, and of all together. */
export interface ContentLimits {
  readonly fileBytes: number
  readonly bytes: number
}

/** All files of a `.crate` that `readArchive` has accepted, in the order of the archive. */
export async function readContents(
  open: () => AsyncIterable<Uint8Array>,
  limits: ContentLimits,
): Promise<ContentFile[]> {
  const files: ContentFile[] = []
  let left = limits.bytes
  await walkTar(open(), Number.POSITIVE_INFINITY, [], async ({ path, kind, size }, read) => {
    if (kind !== 'file') return 'go on'
    const isTaken = size <= limits.fileBytes && size <= left
    if (isTaken) left -= size
    const content = isTaken ? await gather(read()) : null
    files.push({ path: path.slice(path.indexOf('/') + 1), size, content })
    return 'go on'
  })
  return files
}
