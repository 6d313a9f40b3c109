import { withoutCredentials } from '../../../core/urls/urls.ts'
import type { Database } from '../connection.ts'
import type { Snapshot } from '../database.ts'
import { type BeforeUpgrade, migrate, type SchemaOwner } from '../migrations.ts'
import { ServerDatabase } from './database.ts'
import { failure } from './failure.ts'
import { poolOf, type ServerSettings } from './server.ts'

export { ServerLocks } from './locks.ts'

/** Opens and migrates the records on a PostgreSQL server; refuses without a connection. */
export async function openPostgres(
  settings: ServerSettings,
  owner?: SchemaOwner,
  beforeUpgrade?: BeforeUpgrade,
): Promise<Database> {
  // Making an index of a large table takes longer than any statement may later.
  const unlimited = { ...settings, pool: 1, statement_seconds: 0 }
  const first = new ServerDatabase(unlimited)
  try {
    await migrate(first, withoutCredentials(settings.url), owner, beforeUpgrade)
  } finally {
    await first.close()
  }
  return new ServerDatabase(settings)
}

/** A transaction that begins with its first read. */
const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1'
const IS_OPEN = `SELECT current_setting('transaction_isolation') = 'repeatable read' AS held`

/**
 * Opens the records on a server for reading only, without a limit of time. `during` throws when the
 * connection was lost, and later reads were of another state; what is temporary is lost with it.
 */
export function openSnapshot(settings: ServerSettings): Snapshot {
  const unlimited = { ...settings, statement_seconds: 0 }
  // The pool keeps its only connection, and with it the transaction.
  const readers = poolOf(unlimited, 1, { idleTimeoutMillis: 0 })
  const queries = new ServerDatabase(unlimited, readers)
  const send = async (sql: string) => {
    const { rows } = await readers.query<{ held: number }>(sql).catch(error => {
      throw failure(error)
    })
    return rows
  }
  return {
    queries,
    during: async work => {
      await send(BEGIN)
      const result = await work()
      const [row] = await send(IS_OPEN)
      if (row?.held !== 1) throw new Error('the connection of the snapshot was lost')
      await send('COMMIT')
      return result
    },
    run: async sql => {
      await send(sql)
    },
    close: () => queries.close(),
  }
}
