import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../generator/registry.ts'
import { continueIds, copyCatalog } from '../../generator/store/database/copy.ts'
import { openDatabase } from '../../generator/store/database/database.ts'
import { openPostgres } from '../../generator/store/database/postgres/open.ts'
import { Cleanup } from '../../test/support/cleanup.ts'
import { serverSettings } from '../../test/support/engine.ts'
import {
  execute,
  postgresMissing,
  startPostgres,
  type TestServer,
} from '../../test/support/postgres.ts'
import { startEngine } from '../../test/support/s3/engine.ts'
import type { TestS3 } from '../../test/support/s3/environment.ts'
import { filledRegistry, fingerprint } from './filled-registry.ts'
import { CACHE } from './registry.ts'

/** The servers that a measurement has started. */
export class Servers {
  readonly #steps: (() => Promise<void>)[] = []
  readonly cleanup = new Cleanup({ after: step => void this.#steps.push(step) })

  /** Returns why there are no such servers on this machine; null if there are. */
  static missing(): string | null {
    if (!process.env.PLIMSOLL_TEST_S3_PROGRAM)
      return 'not measured: there is no S3 server (npm run setup:s3)'
    return postgresMissing()
  }

  /** Starts PostgreSQL, which syncs what it commits, with what is in a folder of data. */
  async postgres(from?: string): Promise<TestServer> {
    const server = await startPostgres({ isDurable: true, ...(from !== undefined && { from }) })
    this.cleanup.add(() => server.close())
    return server
  }

  /** Starts versitygw. */
  s3(): Promise<TestS3> {
    return startEngine(this.cleanup)
  }

  async close(): Promise<void> {
    for (const step of this.#steps) await step()
  }
}

/** The database of the servers that `filledServer` makes. */
export const FILLED = 'filled'

/**
 * Returns the folder of the data of a PostgreSQL server with the records of `filledRegistry`. It is
 * made once and kept in the user's cache.
 */
export async function filledServer(size: number): Promise<string> {
  const folder = join(CACHE, 'bench', `postgres-${size}-${await fingerprint()}`)
  if (existsSync(folder)) return folder
  mkdirSync(join(CACHE, 'bench'), { recursive: true })
  for (const old of readdirSync(join(CACHE, 'bench')))
    if (old.startsWith(`postgres-${size}-`)) rmSync(join(CACHE, 'bench', old), { recursive: true })
  const { dir } = await filledRegistry(size)
  console.log(`copying a registry of ${size} crates to PostgreSQL, once …`)
  const server = await startPostgres()
  try {
    await fill(await server.create(FILLED), join(dir, DATABASE_FILE))
    await server.kill()
    // With owner and mode, which PostgreSQL insists on.
    execFileSync('cp', ['-a', server.data, `${folder}.new`])
    execFileSync('mv', [`${folder}.new`, folder])
  } finally {
    await server.close()
  }
  return folder
}

async function fill(url: string, file: string): Promise<void> {
  const from = await openDatabase(file)
  const to = await openPostgres({ ...serverSettings(url), statement_seconds: 0 })
  await to.transaction().execute(async tx => {
    await copyCatalog(from, tx)
    await continueIds(tx)
  })
  await to.destroy()
  await from.destroy()
  await execute(url, 'VACUUM ANALYZE')
}
