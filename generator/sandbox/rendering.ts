import type { IllustratedReadme, ReadmeJob } from './image-task.ts'
import { sandbox } from './sandbox.ts'
import { SandboxError } from './thread.ts'

/** Why a README is plain text: as a clause, and more for the operator. */
interface Failure {
  readonly because: string
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
  failureBefore: Failure | null = null,
): Promise<IllustratedReadme & { readonly failure: Failure | null }> {
  const result = failureBefore ?? (await sandbox.run('readme', job).catch(failureOf))
  if ('html' in result) return { ...result, failure: null }
  // Loaded for this alone: with it come Markdown and highlighting, half a megabyte of code.
  const { plainReadme } = await import('../../site/readme/readme.ts')
  return { html: plainReadme(job.readme.text, result.because), files: [], failure: result }
}
