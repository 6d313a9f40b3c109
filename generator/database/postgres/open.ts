import { withoutCredentials } from '../../../core/urls/urls.ts'
import { type Database, databaseOf } from '../connection.ts'
import { type BeforeUpgrade, migrate, type SchemaOwner } from '../schema/migrations.ts'
import { Server, type ServerSettings } from './server.ts'
import { driverOf } from './session.ts'

export { ServerLocks } from './locks.ts'
export { openSnapshot } from './snapshot.ts'

/**
 * Opens the catalog on a PostgreSQL server, creating and migrating its tables as needed. Throws a
 * `Refusal` when there is no connection, or none is allowed.
 */
export async function openPostgres(
  settings: ServerSettings,
  owner?: SchemaOwner,
  beforeUpgrade?: BeforeUpgrade,
): Promise<Database> {
  // Making an index of a large table takes longer than any statement may later.
  const unlimited = { ...settings, pool: 1, statement_seconds: 0 }
  const first = databaseOf(driverOf(new Server(unlimited)))
  try {
    await migrate(first, withoutCredentials(settings.url), owner, beforeUpgrade)
  } finally {
    await first.close()
  }
  return databaseOf(driverOf(new Server(settings)))
}
