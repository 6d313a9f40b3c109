import type Libsql from 'libsql'
import { ServerDatabase } from '../../../../generator/database/postgres/database.ts'
import { translate } from '../../../../generator/database/postgres/translation.ts'
import { openSqlite } from '../../../../generator/places/disk/sqlite-file.ts'

/** The result of a statement, in PostgreSQL's words. */
export interface Result {
  /** Null when it returns no rows. */
  readonly rows: readonly Readonly<Record<string, unknown>>[] | null
  /** Such as `INSERT 0 1`. */
  readonly tag: string
}

/** PostgreSQL's numbers of types (`pg_type.oid`). */
const [BYTEA, BIGINT, TEXT, NUMERIC] = [17, 20, 25, 1700]

/** The statements of the records by their translations for PostgreSQL. */
const originals = new Map<string, string>()

/**
 * Remembers the original of each statement that is translated for PostgreSQL, because the server of
 * a simulation executes the original; returns a function that undoes it.
 */
export function rememberStatements(): () => void {
  const { send } = ServerDatabase.prototype
  ServerDatabase.prototype.send = function (this: ServerDatabase, client, sql, parameters) {
    originals.set(translate(sql).text, sql)
    return send.call(this, client, sql, parameters)
  }
  return () => {
    ServerDatabase.prototype.send = send
  }
}

/** A handle of the SQLite file that stands for the records on a server. */
export class Statements {
  readonly #database: Libsql.Database
  readonly #prepared = new Map<string, Libsql.Statement>()

  constructor(path: string) {
    this.#database = openSqlite(path)
    // Nothing here survives the program.
    this.#database.exec('PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON')
  }

  exec(text: string): void {
    this.#database.exec(text)
  }

  /** Executes a statement as it was translated; arrays among the values are JSON to SQLite. */
  execute(text: string, values: readonly unknown[]): Result {
    const sql = (originals.get(text) ?? text)
      .replace(/\$\d+/g, '?')
      // SQLite has no offset without a limit.
      .replace(/(?<!LIMIT \S+) OFFSET/g, ' LIMIT -1 OFFSET')
    const parameters = values.map(value => (Array.isArray(value) ? JSON.stringify(value) : value))
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql)
    const command = /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? ''
    if (/^(?:SELECT|INSERT|UPDATE|DELETE|WITH)$/.test(command)) this.#prepared.set(sql, statement)
    if (statement.reader) {
      const rows = statement.all(parameters) as Record<string, unknown>[]
      return { rows, tag: tagOf(command === 'WITH' ? 'SELECT' : command, rows.length) }
    }
    return { rows: null, tag: tagOf(command, statement.run(parameters).changes) }
  }

  close(): void {
    this.#prepared.clear()
    this.#database.close()
  }
}

function tagOf(command: string, count: number): string {
  return command === 'INSERT' ? `INSERT 0 ${count}` : `${command} ${count}`
}

/** Returns rows as PostgreSQL sends them: the columns with their types, and texts. */
export function encoded(rows: readonly Readonly<Record<string, unknown>>[]) {
  const names = Object.keys(rows[0] ?? {})
  const fields = names.map(name => {
    const value = rows.map(row => row[name]).find(value => value !== null)
    return { name, dataTypeID: typeOf(value), format: 'text' }
  })
  return { fields, rows: rows.map(row => names.map(name => textOf(row[name]))) }
}

function typeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BIGINT : NUMERIC
  return typeof value === 'string' || value === undefined ? TEXT : BYTEA
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'string') return String(value)
  return `\\x${Buffer.from(value as Uint8Array).toString('hex')}`
}
