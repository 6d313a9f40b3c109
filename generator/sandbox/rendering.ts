import { type PackagedReadme, plainReadme, type RenderedReadme } from '../../site/readme/readme.ts'
import type { ImageCheck, PackagedJob } from './image-task.ts'
import { sandbox } from './sandbox.ts'
import { SandboxError } from './thread.ts'

/** The reason why something is shown as plain text. */
export interface Failure {
  /** A clause, for the page. */
  readonly because: string
  /** Details for the operator only; null when there are none. */
  readonly detail: string | null
}

/** Returns the failure for an error of the sandbox; rethrows any other error. */
function failureOf(error: unknown): Failure {
  if (!(error instanceof SandboxError)) throw error
  return error.reason === 'failure'
    ? { because: 'it cannot be rendered', detail: error.message }
    : { because: error.message, detail: null }
}

/**
 * Renders a README in the sandbox. One that takes too much time or memory, or is known to, becomes
 * plain text with a sentence that says why; `failure` is that reason.
 */
export async function renderReadme(
  readme: PackagedReadme,
  known: Failure | null = null,
): Promise<RenderedReadme & { readonly failure: Failure | null }> {
  const result = known ?? (await sandbox.run('readme', readme).catch(failureOf))
  if ('html' in result) return { ...result, failure: null }
  return { html: plainReadme(readme.text, result.because), images: [], failure: result }
}

/** Checks an image in the sandbox. One that takes too much time or memory is a problem, too. */
export async function checkImage(bytes: Uint8Array): Promise<ImageCheck> {
  return sandbox.run('image', bytes).catch(error => ({ problem: failureOf(error).because }))
}

/** Takes images out of a `.crate` in the sandbox; none if that takes too much time or memory. */
export async function packagedImages(job: PackagedJob): Promise<Map<string, ImageCheck>> {
  return sandbox.run('packaged', job).catch(error => {
    failureOf(error)
    return new Map<string, ImageCheck>()
  })
}
