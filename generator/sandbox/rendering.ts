import { plainReadme } from '../../site/readme/readme.ts'
import type { IllustratedReadme, ReadmeJob } from './image-task.ts'
import { sandbox } from './sandbox.ts'
import { SandboxError } from './thread.ts'

/** The reason why something is shown as plain text. */
export interface Failure {
  /** A clause, for the page. */
  readonly because: string
  /** Details for the operator only; null when there are none. */
  readonly detail: string | null
}

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
  job: ReadmeJob,
  known: Failure | null = null,
): Promise<IllustratedReadme & { readonly failure: Failure | null }> {
  const result = known ?? (await sandbox.run('readme', job).catch(failureOf))
  if ('html' in result) return { ...result, failure: null }
  return { html: plainReadme(job.readme.text, result.because), files: [], failure: result }
}
