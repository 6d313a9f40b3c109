import { type Issue, refuseErrors } from '../../core/error/error.ts'
import { type Archive, type ArchiveLimits, surveyArchive } from '../../core/tarball/read.ts'

/** Limits that no good archive of a test comes near. */
export const LIMITS: ArchiveLimits = {
  unpackedBytes: 4 * 1024 * 1024,
  entries: 1000,
  manifestBytes: 64 * 1024,
  readmeBytes: 64 * 1024,
}

/** The bytes as a stream in pieces of `step`. */
export function opener(bytes: Uint8Array, step = 1000): () => AsyncIterable<Uint8Array> {
  return async function* () {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
  }
}

/** The archive that a survey finds, with its warnings; throws its errors as one `Refusal`. */
export async function readArchive(
  ...parts: Parameters<typeof surveyArchive>
): Promise<Archive & { readonly warnings: readonly Issue[] }> {
  const { archive, issues } = await surveyArchive(...parts)
  refuseErrors(issues)
  if (!archive) throw new Error('an archive without a manifest or an error')
  return { ...archive, warnings: issues }
}
