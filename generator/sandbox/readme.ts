import { type PackagedReadme, plainReadme } from '../../site/readme/readme.ts'
import { type Failure, failureOf } from './failure.ts'
import { sandbox } from './sandbox.ts'

/** A README as HTML, and what kept it from being rendered as Markdown. */
export interface RenderedReadme {
  readonly html: string
  readonly failure: Failure | null
}

/**
 * Renders a README in the sandbox. What takes too much there, or is known to, becomes plain text
 * with a sentence that says why.
 */
export async function renderReadme(
  readme: PackagedReadme,
  known: Failure | null = null,
): Promise<RenderedReadme> {
  if (known) return { html: plainReadme(readme.text, known.because), failure: known }
  try {
    return { html: await sandbox.run('readme', readme), failure: null }
  } catch (error) {
    const failure = failureOf(error)
    return { html: plainReadme(readme.text, failure.because), failure }
  }
}
