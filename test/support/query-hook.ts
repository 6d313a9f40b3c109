import type { CompiledQuery } from 'kysely'
import type { Database } from '../../generator/store/database/database.ts'

/** Told of a statement that was executed; its caller gets the rows when this is done. */
export type QueryHook = (sql: string, parameters: readonly unknown[]) => Promise<void> | void

/** The same database, with a hook behind each statement; the hook gets its text on one line. */
export function withQueryHook(database: Database, hook: QueryHook): Database {
  return new Proxy(database, {
    get(target, key) {
      if (key === 'executeQuery') {
        return async (query: CompiledQuery) => {
          const result = await target.executeQuery(query)
          await hook(query.sql.replace(/\s+/g, ' '), query.parameters)
          return result
        }
      }
      if (key === 'transaction') {
        return () => ({
          execute: (work: (tx: Database) => Promise<unknown>) =>
            target.transaction().execute(tx => work(withQueryHook(tx, hook))),
        })
      }
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** The same database, with a hook before each transaction. */
export function withChangeHook(database: Database, hook: () => Promise<void>): Database {
  return new Proxy(database, {
    get(target, key) {
      if (key === 'transaction') {
        return () => ({
          execute: async (work: (tx: Database) => Promise<unknown>) => {
            await hook()
            return target.transaction().execute(work)
          },
        })
      }
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
