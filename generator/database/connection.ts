import type { Queries } from './statement.ts'

/** The open database. */
export interface Database extends Queries {
  /**
   * Runs `work` in a transaction: all of its changes are on disk when this returns, and none of
   * them are made when it throws, except a refusal with `commit_unknown`. With `later`, a power cut
   * may undo them: for work that is done, and is then done once more, not for what files are
   * rendered from.
   */
  transaction<T>(work: (tx: Queries) => Promise<T>, sync?: 'now' | 'later'): Promise<T>
  /** Closes it; a second time does nothing. */
  close(): Promise<void>
}
