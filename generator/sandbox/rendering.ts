import type { Output } from '../../core/output.ts'
import { type PackagedReadme, plainReadme } from '../../site/readme/readme.ts'
import { sourceNotice } from '../../site/source/pages.ts'
import { sandbox } from './sandbox.ts'
import type { SourceJob } from './source-task.ts'
import { SandboxError } from './thread.ts'

/** Why something is shown as plain text. */
export interface Failure {
  /** A clause, for the page. */
  readonly because: string
  /** What only the operator should know; null when there is no more to say. */
  readonly detail: string | null
}

/** The failure that an error of the sandbox stands for; throws every other error. */
function failureOf(error: unknown): Failure {
  if (!(error instanceof SandboxError)) throw error
  return error.reason === 'failure'
    ? { because: 'it cannot be rendered', detail: error.message }
    : { because: error.message, detail: null }
}

/**
 * Renders a README in the sandbox. What takes too much there, or is known to, becomes plain text
 * with a sentence that says why; `failure` is what kept it from being rendered as Markdown.
 */
export async function renderReadme(
  readme: PackagedReadme,
  known: Failure | null = null,
): Promise<{ readonly html: string; readonly failure: Failure | null }> {
  const html = known ?? (await sandbox.run('readme', readme).catch(failureOf))
  if (typeof html === 'string') return { html, failure: null }
  return { html: plainReadme(readme.text, html.because), failure: html }
}

/**
 * Renders the source browser of a version in the sandbox: its tree, and a page for each file that
 * is text. What takes too much, or is known to, comes without colors; what still does is one page
 * that says so. Returns what went wrong at first.
 */
export async function* renderSource(
  source: Omit<SourceJob, 'plainBecause'>,
  known: Failure | null = null,
): AsyncGenerator<Output, Failure | null> {
  let failure = known
  if (!failure) {
    try {
      yield* pagesOf({ ...source, plainBecause: null })
      return null
    } catch (error) {
      failure = failureOf(error)
    }
  }
  try {
    yield* pagesOf({ ...source, plainBecause: failure.because })
  } catch (error) {
    yield sourceNotice(source.site, source, failureOf(error).because)
  }
  return failure
}

async function* pagesOf(job: SourceJob): AsyncGenerator<Output> {
  for await (const part of sandbox.stream('source', job)) {
    for (const page of part as Output[]) {
      const { buffer, byteOffset, byteLength } = page.bytes
      // What has come from another thread is no longer a Buffer.
      yield { ...page, bytes: Buffer.from(buffer, byteOffset, byteLength) }
    }
  }
}
