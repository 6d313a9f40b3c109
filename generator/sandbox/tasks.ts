import { closeSync, openSync, readSync } from 'node:fs'
import type { AdvisoryFile, ReadAdvisory } from '../../core/advisory/files.ts'
import { refusalOnly } from '../../core/error/error.ts'
import type { Adoption, AdoptParts } from '../../core/release/adopt.ts'
import { type Inspection, type InspectParts, inspectCrate } from '../../core/release/inspect.ts'
import type { ArchiveFile, Identity } from '../../core/tarball/read.ts'
import type { IllustratedReadme, ReadmeJob } from './image-task.ts'

/** The bytes of a `.crate`, or the path of its file. */
export type Content = Uint8Array | string

export interface PublishedCrate {
  readonly path: Content
  readonly size: number
  /** Null if its manifest says what it is. */
  readonly identity: Identity | null
}

/**
 * The tasks of a worker thread, with plain data as input and result. None reads settings or stores.
 * A thread starts with the modules that inspect a `.crate`; those of other tasks are loaded when
 * they first run.
 */
export const tasks = {
  async inspect(job: { content: Content; parts: InspectParts }): Promise<Inspection> {
    return inspectCrate(() => chunksOf(job.content), job.parts)
  },

  async adopt({ content, parts }: { content: Content; parts: AdoptParts }): Promise<Adoption> {
    const { adoptCrate } = await import('../../core/release/adopt.ts')
    return adoptCrate(() => chunksOf(content), parts)
  },

  /** Returns why no Cargo can use a published `.crate`; null if one can. */
  async fault({ path, size, identity }: PublishedCrate): Promise<string | null> {
    const { readPublished } = await import('../../core/release/published.ts')
    try {
      await readPublished(() => chunksOf(path), identity, size)
      return null
    } catch (error) {
      return refusalOnly(error).message
    }
  },

  async files(job: { path: string; unpackedBytes: number }): Promise<ArchiveFile[]> {
    const { listFiles } = await import('../../core/tarball/recover.ts')
    return listFiles(() => chunksOf(job.path), job.unpackedBytes)
  },

  /** Returns the files of an archive that may be advisories. */
  async unpackAdvisories(path: string): Promise<AdvisoryFile[]> {
    const { advisoryFiles } = await import('../../core/advisory/files.ts')
    return advisoryFiles(() => chunksOf(path))
  },

  async readAdvisories(files: readonly AdvisoryFile[]): Promise<ReadAdvisory[]> {
    const { readAdvisoryFile } = await import('../../core/advisory/files.ts')
    return files.map(readAdvisoryFile)
  },

  async readme(job: ReadmeJob): Promise<IllustratedReadme> {
    const { renderIllustrated } = await import('./image-task.ts')
    return renderIllustrated(job)
  },
}

export type Tasks = typeof tasks

/** Yields all bytes. Blocking reads of a file delay no other task and are faster than a stream. */
async function* chunksOf(content: Content): AsyncGenerator<Uint8Array> {
  if (typeof content !== 'string') {
    yield content
    return
  }
  const file = openSync(content, 'r')
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
