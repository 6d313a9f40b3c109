import { Kysely } from 'kysely'
import { withoutCredentials } from '../../../../core/urls.ts'
import type { Database } from '../database.ts'
import { type BeforeUpgrade, migrate, type SchemaOwner } from '../migrations.ts'
import type { Tables } from '../tables.ts'
import { PostgresDialect } from './dialect.ts'
import { Server, type ServerSettings } from './server.ts'

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
  const first = new Kysely<Tables>({ dialect: new PostgresDialect(new Server(unlimited)) })
  try {
    await migrate(first, withoutCredentials(settings.url), owner, beforeUpgrade)
  } finally {
    await first.destroy()
  }
  return new Kysely<Tables>({ dialect: new PostgresDialect(new Server(settings)) })
}
