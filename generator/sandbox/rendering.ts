import type { Output } from '../../core/paths/tree.ts'
import { comparisonNotice } from '../../site/compare/page.ts'
import { type PackagedReadme, plainReadme, type RenderedReadme } from '../../site/readme/readme.ts'
import { sourceNotice } from '../../site/source/pages.ts'
import type { CompareJob } from './compare-task.ts'
import type { ImageCheck, PackagedJob } from './image-task.ts'
import { sandbox } from './sandbox.ts'
import type { SourceJob } from './source-task.ts'
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

/**
 * Renders the source browser of a version in the sandbox: its tree, and a page for each text file.
 * If that takes too much time or memory, or is known to, the pages have no colors; if it still
 * does, there is one page that says so. Returns the first failure.
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

/**
 * Renders the page that compares two versions in the sandbox. If that takes too much time or
 * memory, or is known to, the page says so; `failure` is the reason.
 */
export async function renderComparison(
  job: CompareJob,
  known: Failure | null = null,
): Promise<{ readonly html: string; readonly failure: Failure | null }> {
  const html = known ?? (await sandbox.run('compare', job).catch(failureOf))
  if (typeof html === 'string') return { html, failure: null }
  return { html: comparisonNotice(job.comparison, html.because), failure: html }
}

async function* pagesOf(job: SourceJob): AsyncGenerator<Output> {
  for await (const part of sandbox.stream('source', job)) {
    for (const page of part as Output[]) {
      const { buffer, byteOffset, byteLength } = page.bytes
      // A Buffer from another thread arrives as a plain Uint8Array.
      yield { ...page, bytes: Buffer.from(buffer, byteOffset, byteLength) }
    }
  }
}
