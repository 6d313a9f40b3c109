import { withoutCredentials } from '../../../core/urls/urls.ts'
import type { Database } from '../connection.ts'
import type { Snapshot } from '../database.ts'
import { type BeforeUpgrade, migrate, type SchemaOwner } from '../migrations.ts'
import { ServerDatabase } from './database.ts'
import { failure } from './failure.ts'
import { poolOf, type ServerSettings } from './server.ts'

export { ServerLocks } from './locks.ts'

/**
 * Opens the records on a PostgreSQL server, creating and migrating their tables as needed. Throws a
 * `Refusal` when there is no connection, or none is allowed.
 */
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
const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1'
const IS_OPEN = `SELECT current_setting('transaction_isolation') = 'repeatable read' AS held`

/**
 * Opens the records on a server as they are now, for reading only, without a limit of time. `close`
 * throws when the connection was lost, and later reads were of another state.
 */
export async function openSnapshot(settings: ServerSettings): Promise<Snapshot> {
  const unlimited = { ...settings, statement_seconds: 0 }
  // The pool keeps its only connection, and with it the transaction.
  const readers = poolOf(unlimited, 1, { idleTimeoutMillis: 0 })
  const queries = new ServerDatabase(unlimited, readers)
  try {
    const client = await readers.connect()
    await client.query(BEGIN)
    client.release()
    const close = async () => {
      const { rows } = await readers.query<{ held: number }>(IS_OPEN)
      await queries.close()
      if (rows[0]?.held !== 1) throw new Error('the connection of the snapshot was lost')
    }
    return { queries, close }
  } catch (error) {
    await queries.close()
    throw failure(error)
  }
}
