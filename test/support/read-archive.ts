import { type Issue, refuseErrors } from '../../core/error/error.ts'
import { type Archive, surveyArchive } from '../../core/tarball/read.ts'

/** The archive that a survey finds, with its warnings; throws its errors as one `Refusal`. */
export async function readArchive(
  ...parts: Parameters<typeof surveyArchive>
): Promise<Archive & { readonly warnings: readonly Issue[] }> {
  const { archive, issues } = await surveyArchive(...parts)
  refuseErrors(issues)
  if (!archive) throw new Error('an archive without a manifest or an error')
  return { ...archive, warnings: issues }
}
