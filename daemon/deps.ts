import type { Logger } from 'pino'
import type { Registry } from '../generator/registry/registry.ts'
import type { Metrics } from './metrics.ts'
import type { DownloadCounter } from './workers/download-counter.ts'
import type { GitWorker } from './workers/git-worker.ts'
import type { IndexWorker } from './workers/index-worker.ts'

/** The daemon's shared dependencies; nothing else reads the clock or opens a store. */
export interface Deps {
  readonly registry: Registry
  readonly indexWorker: IndexWorker
  readonly clock: () => Date
  readonly log: Logger
  readonly metrics: Metrics
  readonly downloads: DownloadCounter
  /** Null for a registry without a git index. */
  readonly git: GitWorker | null
}
