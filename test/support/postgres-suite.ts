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
  const running = () => {
    if (started === null) throw new Error('PostgreSQL runs during the tests only')
    return started
  }
  const server: TestServer = {
    url: database => running().url(database),
    create: database => running().create(database),
    get port() {
      return running().port
    },
    kill: () => running().kill(),
    start: () => running().start(),
    close: () => running().close(),
  }
  return { server, skip }
}
