import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
} from 'kysely'
import type { PoolClient } from 'pg'
import type { Snapshot } from '../database.ts'
import type { Tables } from '../tables.ts'
import { PostgresDialect } from './dialect.ts'
import { failure } from './failure.ts'
import { Server, type ServerSettings } from './server.ts'
import { execute } from './session.ts'

/** Opens the records on a server as they are now, for reading only, without a limit of time. */
export async function openSnapshot(settings: ServerSettings): Promise<Snapshot> {
  const server = new Server({ ...settings, pool: 1, statement_seconds: 0 })
  try {
    const client = await server.readers.connect()
    // The transaction begins with its first read.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1')
    return {
      queries: new Kysely<Tables>({ dialect: new SnapshotDialect(server, client) }),
      close: async () => {
        client.release(true)
        await server.close()
      },
    }
  } catch (error) {
    await server.close()
    throw failure(error)
  }
}

/** Has all statements executed by one connection. */
class SnapshotDialect extends PostgresDialect {
  readonly #client: PoolClient

  constructor(server: Server, client: PoolClient) {
    super(server)
    this.#client = client
  }

  override createDriver(): Driver {
    const connection = new SnapshotConnection(this.#client)
    const refuse = async () => {
      throw new Error('a snapshot takes no changes')
    }
    return {
      init: async () => {},
      acquireConnection: async () => connection,
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      releaseConnection: async () => {},
      destroy: async () => {},
    }
  }
}

class SnapshotConnection implements DatabaseConnection {
  readonly #client: PoolClient

  constructor(client: PoolClient) {
    this.#client = client
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return await execute<R>(this.#client, query)
    } catch (error) {
      throw failure(error)
    }
  }

  streamQuery(): never {
    throw new Error('rows are read page by page, not streamed')
  }
}
