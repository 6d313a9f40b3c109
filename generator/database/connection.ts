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

/** Runs the work of a transaction, whose statements fail once it has ended. */
export async function inTransaction<T>(
  { engine, execute }: Queries,
  work: (tx: Queries) => Promise<T>,
): Promise<T> {
  let isOpen = true
  const executeWithin: Queries['execute'] = async (sql, parameters) => {
    // Outside of the transaction the statement would be a change by itself.
    if (!isOpen) throw new Error(`the transaction has ended: ${sql}`)
    return execute(sql, parameters)
  }
  try {
    return await work({ engine, execute: executeWithin })
  } finally {
    isOpen = false
  }
}
