import type { Queries, Result } from './statement.ts'

/** The open database. */
export interface Database extends Queries {
  /**
   * Runs `work` in a transaction: all of its changes are on disk when this returns, and none of
   * them are made when it throws.
   */
  transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T>
  /** Closes it; a second time does nothing. */
  close(): Promise<void>
}

/** Executes one statement, or those of one transaction. */
export interface Connection {
  execute(sql: string, parameters: readonly unknown[]): Promise<Result>
  begin(): Promise<void>
  commit(): Promise<void>
  /** Does nothing without a transaction, or after one that has ended by itself. */
  rollback(): Promise<void>
  /** Others may use what it has used. */
  end(): void
}

/** The engine that keeps the records. */
export interface Driver {
  readonly engine: Queries['engine']
  connect(): Connection
  close(): Promise<void>
}

/** Returns the database of an engine. */
export function databaseOf(driver: Driver): Database {
  const { engine } = driver
  let closing: Promise<void> | null = null
  return {
    engine,
    async execute(sql, parameters) {
      const connection = driver.connect()
      try {
        return await connection.execute(sql, parameters)
      } finally {
        connection.end()
      }
    },
    transaction: work => inTransaction(driver.connect(), engine, work),
    close: () => {
      closing ??= driver.close()
      return closing
    },
  }
}

async function inTransaction<T>(
  connection: Connection,
  engine: Queries['engine'],
  work: (tx: Queries) => Promise<T>,
): Promise<T> {
  let isOpen = true
  const execute: Queries['execute'] = async (sql, parameters) => {
    // Outside of the transaction the statement would be a change by itself.
    if (!isOpen) throw new Error(`the transaction has ended: ${sql}`)
    return connection.execute(sql, parameters)
  }
  return committed(connection, async () => {
    try {
      return await work({ engine, execute })
    } finally {
      isOpen = false
    }
  })
}

/** Does work in a transaction of a connection, and lets others have what it used. */
export async function committed<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    await connection.begin()
    const result = await work()
    await connection.commit()
    return result
  } catch (error) {
    await connection.rollback()
    throw error
  } finally {
    connection.end()
  }
}
