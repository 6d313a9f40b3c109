import { closeSync, openSync, readSync } from 'node:fs'
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
    return inspectCrate(() => chunksOf(path), parts)
  },

  /** Makes a release of the `.crate` of another registry. */
  async adopt({ path, parts }: { path: string; parts: AdoptParts }): Promise<Adoption> {
    const { adoptCrate } = await import('../../core/release/adopt.ts')
    return adoptCrate(() => chunksOf(path), parts)
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

/** The bytes of a file. Nobody else waits for this thread, and this costs a fraction of a stream. */
async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(65_536)
      const size = readSync(file, chunk)
      if (size === 0) return
      yield chunk.subarray(0, size)
    }
  } finally {
    closeSync(file)
  }
}
