import type { Output } from '../../core/output.ts'
import { sourceNotice } from '../../site/source/pages.ts'
import { type Failure, failureOf } from './failure.ts'
import { sandbox } from './sandbox.ts'
import type { SourceJob } from './source-task.ts'

/** A `.crate` whose source browser is wanted. */
export type PackagedSource = Omit<SourceJob, 'plainBecause'>

/**
 * Renders the source browser of a version in the sandbox: its tree, and a page for each file that
 * is text. What takes too much, or is known to, comes without colors; what still does is one page
 * that says so. Returns what went wrong at first.
 */
export async function* renderSource(
  source: PackagedSource,
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
