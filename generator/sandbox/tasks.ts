import { createReadStream } from 'node:fs'
import type { Adoption, AdoptParts } from '../../core/release/adopt.ts'
import type { Inspection, InspectParts } from '../../core/release/inspect.ts'
import type { PackagedReadme } from '../../site/readme/readme.ts'
import type { Send, SourceJob } from './source-task.ts'

/**
 * What a worker thread can be asked for: plain data in, plain data out. Nothing here reads settings
 * or stores. A thread loads what a task needs with the first of them.
 */
export const tasks = {
  /** Reads the release out of the `.crate` at `path`. */
  async inspect({ path, parts }: { path: string; parts: InspectParts }): Promise<Inspection> {
    const { inspectCrate } = await import('../../core/release/inspect.ts')
    return inspectCrate(() => createReadStream(path), parts)
  },

  /** Makes a release of the `.crate` of another registry. */
  async adopt({ path, parts }: { path: string; parts: AdoptParts }): Promise<Adoption> {
    const { adoptCrate } = await import('../../core/release/adopt.ts')
    return adoptCrate(() => createReadStream(path), parts)
  },

  /** Renders a README. */
  async readme(readme: PackagedReadme): Promise<string> {
    const { renderReadme } = await import('../../site/readme/readme.ts')
    return renderReadme(readme)
  },

  /** Renders the source browser of a `.crate`; the parts that it sends are lists of pages. */
  async source(job: SourceJob, send: Send): Promise<void> {
    const { renderSourcePages } = await import('./source-task.ts')
    await renderSourcePages(job, send)
  },
}

export type Tasks = typeof tasks
