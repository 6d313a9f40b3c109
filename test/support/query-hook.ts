import type { Database } from '../../generator/store/database/database.ts'

/** Told of a query that was executed; its caller gets the rows when this is done. */
export type QueryHook = (sql: string, parameters: readonly unknown[]) => Promise<void> | void

/** The same database, with a hook behind each query. */
export function withQueryHook(database: Database, hook: QueryHook): Database {
  const compiled = new WeakMap<object, { sql: string; parameters: readonly unknown[] }>()
  return database.withPlugin({
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
}
