import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Metrics } from '../../../daemon/http/metrics.ts'
import { addUser } from '../../../generator/accounts/accounts.ts'
import { createToken } from '../../../generator/accounts/tokens.ts'
import { openDatabase } from '../../../generator/database/database.ts'
import { openRegistry } from '../../../generator/open.ts'
import { openSqlite } from '../../../generator/places/disk/sqlite-file.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { SETTINGS_FILE } from '../../../generator/registry/folder.ts'
import { initRegistry, type Registry } from '../../../generator/registry/registry.ts'

/** The publishers. */
export const USERS = ['bob', 'carol', 'dave'] as const

/** Tables that only records on a server have; nothing is limited in a simulation. */
const ON_SERVER = 'CREATE TABLE rate_limits (key TEXT PRIMARY KEY, level REAL, at REAL)'

/** The start of every simulation: empty records with users, and their tokens. */
export class Template {
  readonly #folder: string
  readonly tokens: ReadonlyMap<string, string>
  /** Those of all daemons: each would watch the whole program. */
  readonly metrics: Metrics
  readonly #registry: Registry

  private constructor(folder: string, tokens: ReadonlyMap<string, string>, registry: Registry) {
    this.#folder = folder
    this.tokens = tokens
    this.#registry = registry
    this.metrics = new Metrics(registry)
  }

  static async make(folder: string): Promise<Template> {
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'records.db')
    const database = await openDatabase(path)
    const at = '2026-11-20T12:00:00Z'
    const tokens = new Map<string, string>()
    for (const login of USERS) {
      const { id } = await addUser(database, { login, admin: false }, operatorChange(at))
      const order = { userId: id, name: 'one', scopes: null, crates: null, expires: null }
      tokens.set(login, (await createToken(database, order, operatorChange(at))).token)
    }
    await database.close()
    const writer = openSqlite(path)
    writer.exec(ON_SERVER)
    writer.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    writer.close()
    const dir = join(folder, 'metrics')
    await initRegistry(dir, { env: {} }, {})
    return new Template(folder, tokens, await openRegistry(dir, { env: {} }))
  }

  /** Copies the records to a file. */
  records(path: string): void {
    copyFileSync(join(this.#folder, 'records.db'), path)
  }

  /** Makes a registry folder, with the same id each time. */
  registry(dir: string, id: string): void {
    mkdirSync(join(dir, 'locks'), { recursive: true })
    writeFileSync(join(dir, SETTINGS_FILE), '')
    writeFileSync(join(dir, 'locks', 'daemon.id'), id)
  }

  close(): Promise<void> {
    return this.#registry.close()
  }
}
