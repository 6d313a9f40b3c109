import type { CompiledQuery } from 'kysely'
import type { Database } from '../../generator/store/database/database.ts'

/** Told of a query that was executed; its caller gets the rows when this is done. */
export type QueryHook = (sql: string, parameters: readonly unknown[]) => Promise<void> | void

/** The same database, with a hook behind each query. */
export function withQueryHook(database: Database, hook: QueryHook): Database {
  const compiled = new WeakMap<object, { sql: string; parameters: readonly unknown[] }>()
  const built = database.withPlugin({
    transformQuery: ({ node, queryId }) => {
      compiled.set(queryId, database.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ queryId, result }) => {
      const query = compiled.get(queryId)
      if (query) await hook(query.sql, query.parameters)
      return result
    },
  })
  return withTextHook(built, hook)
}

/** Sees the statements of `statement.ts`, which no plugin sees; their text is on one line. */
function withTextHook(database: Database, hook: QueryHook): Database {
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
            target.transaction().execute(tx => work(withTextHook(tx, hook))),
        })
      }
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' && key !== 'fn' ? value.bind(target) : value
    },
  })
}
