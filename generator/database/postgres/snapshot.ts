import { databaseOf } from '../connection.ts'
import type { Snapshot } from '../database.ts'
import { failure } from './failure.ts'
import { poolOf, Server, type ServerSettings } from './server.ts'
import { driverOf } from './session.ts'

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
  const server = new Server(unlimited, readers)
  try {
    const client = await readers.connect()
    await client.query(BEGIN)
    client.release()
    const close = async () => {
      const { rows } = await readers.query<{ held: number }>(IS_OPEN)
      await server.close()
      if (rows[0]?.held !== 1) throw new Error('the connection of the snapshot was lost')
    }
    return { queries: databaseOf(driverOf(server)), close }
  } catch (error) {
    await server.close()
    throw failure(error)
  }
}
