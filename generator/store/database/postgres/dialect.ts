import {
  type DatabaseConnection,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
} from 'kysely'
import type { Server } from './server.ts'
import { Session } from './session.ts'

/** Connects Kysely to a PostgreSQL server. */
export class PostgresDialect implements Dialect {
  readonly #server: Server

  constructor(server: Server) {
    this.#server = server
  }

  createDriver(): Driver {
    return new PostgresDriver(this.#server)
  }

  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler()
  }

  createAdapter(): DialectAdapter {
    return new ServerAdapter()
  }

  createIntrospector(database: Kysely<unknown>): PostgresIntrospector {
    return new PostgresIntrospector(database)
  }
}

/** Every transaction of this driver takes the lock of the writers, those of migrations too. */
class ServerAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
}

class PostgresDriver implements Driver {
  readonly #server: Server

  constructor(server: Server) {
    this.#server = server
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new Session(this.#server)
  }

  async beginTransaction(session: Session): Promise<void> {
    await session.begin()
  }

  async commitTransaction(session: Session): Promise<void> {
    await session.commit()
  }

  async rollbackTransaction(session: Session): Promise<void> {
    await session.rollback()
  }

  async releaseConnection(session: Session): Promise<void> {
    session.end()
  }

  destroy(): Promise<void> {
    return this.#server.close()
  }
}
