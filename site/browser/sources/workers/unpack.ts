import { type Issue, Refusal } from '../../../../core/error/error.ts'
import { ByteReader, gather } from '../../../../core/tarball/bytes.ts'
import { walkTar } from '../../../../core/tarball/walk.ts'

/** The readable files of a package, and why there may be more. */
export interface PackageFiles {
  readonly files: Map<string, Uint8Array>
  /** A sentence; null if all was read. */
  readonly problem: string | null
}

/** Compressed bytes that are unpacked in one step: to at most about 16 MB. */
const STEP = 16 * 1024

const FILES_MAX = 100_000

/** Unpacks the members of a `.crate` that Cargo would unpack into the folder `top`. */
export async function unpack(bytes: Uint8Array, top: string, most: number): Promise<PackageFiles> {
  const files = new Map<string, Uint8Array>()
  const issues: Issue[] = []
  const reader = new ByteReader(gunzip(bytes), most)
  let problem: string | null = null
  try {
    const visit: Parameters<typeof walkTar>[2] = async ({ path, kind }, read) => {
      if (kind === 'file' && path.startsWith(`${top}/`))
        files.set(path.slice(top.length + 1), await gather(read()))
      return files.size < FILES_MAX ? 'go on' : 'stop'
    }
    await walkTar(reader, issues, visit, 'cargo')
  } catch (error) {
    problem = error instanceof Refusal ? error.message : 'the crate file is damaged'
  } finally {
    await reader.close()
  }
  return { files, problem: problem ?? issues[0]?.message ?? null }
}

/**
 * Yields the unpacked bytes, a step at a time: a bomb is noticed before it fills the memory.
 * The end of a member throws if more bytes follow, which nobody asks for after the end of the tar.
 */
async function* gunzip(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const stream = new DecompressionStream('gzip')
  const writer = stream.writable.getWriter()
  const feed = async () => {
    for (let at = 0; at < bytes.length; at += STEP) {
      await writer.ready
      await writer.write(bytes.slice(at, at + STEP))
    }
    await writer.close()
  }
  // The reader reports the error, too.
  feed().catch(() => undefined)
  const reader = stream.readable.getReader()
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
