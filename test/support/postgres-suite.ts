import { after, before } from 'node:test'
import type { Database } from '../../generator/database/connection.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import type { ServerSettings } from '../../generator/database/postgres/server.ts'
import { serverSettings } from './engine.ts'
import { postgresMissing, startPostgres, type TestServer } from './postgres.ts'

/** The needs of one file's tests on a PostgreSQL server. */
export interface PostgresSuite {
  /** Started before the first test of the file, closed after the last. */
  readonly server: TestServer
  /** Why the tests cannot run here; false if they can. */
  readonly skip: string | false
  /** The settings of a new, empty database. */
  readonly empty: (more?: Partial<ServerSettings>) => Promise<ServerSettings>
}

/** Has a server for all tests of the file that calls it. */
export function postgresSuite(): PostgresSuite {
  const skip = postgresMissing() ?? false
  let started: TestServer | null = null
  before(async () => {
    if (skip === false) started = await startPostgres()
  })
  after(() => started?.close())
  const server = new Proxy({} as TestServer, {
    get(_, key: keyof TestServer) {
      if (started === null) throw new Error('PostgreSQL runs during the tests only')
      return started[key]
    },
  })
  let count = 0
  const empty = async (more: Partial<ServerSettings> = {}) => {
    const url = await server.create(`empty_${++count}`)
    return { ...serverSettings(url), ...more }
  }
  return { server, skip, empty }
}

/** Opens the records of a server until the end of a test. */
export async function openOnServer(
  t: { after(step: () => Promise<void>): void },
  settings: ServerSettings,
): Promise<Database> {
  const database = await openPostgres(settings)
  t.after(() => database.close())
  return database
}
