import { after, before } from 'node:test'
import { postgresMissing, startPostgres, type TestServer } from './postgres.ts'

/** The needs of one file's tests on a PostgreSQL server. */
export interface PostgresSuite {
  /** Started before the first test of the file, closed after the last. */
  readonly server: TestServer
  /** Why the tests cannot run here; false if they can. */
  readonly skip: string | false
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
  return { server, skip }
}
