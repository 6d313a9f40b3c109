import type { Database } from '../../generator/database/connection.ts'
import type { Queries } from '../../generator/database/statement.ts'

/** Told of a statement that was executed; its caller gets the rows when this is done. */
export type QueryHook = (sql: string, parameters: readonly unknown[]) => Promise<void> | void

/** The same database, with a hook behind each statement; the hook gets its text on one line. */
export function withQueryHook(database: Database, hook: QueryHook): Database {
  const hooked = (queries: Queries): Queries => ({
    engine: queries.engine,
    async execute(sql, parameters) {
      const result = await queries.execute(sql, parameters)
      await hook(sql.replace(/\s+/g, ' '), parameters)
      return result
    },
  })
  return {
    ...hooked(database),
    transaction: work => database.transaction(tx => work(hooked(tx))),
    close: () => database.close(),
  }
}

/** The same database, with a hook before each transaction. */
export function withChangeHook(database: Database, hook: () => Promise<void>): Database {
  return {
    engine: database.engine,
    execute: (sql, parameters) => database.execute(sql, parameters),
    async transaction(work) {
      await hook()
      return database.transaction(work)
    },
    close: () => database.close(),
  }
}
