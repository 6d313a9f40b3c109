import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { continueIds, copyCatalog } from '../../generator/database/copy.ts'
import { openDatabase } from '../../generator/database/database.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { Cleanup } from '../../test/support/cleanup.ts'
import { serverSettings } from '../../test/support/engine.ts'
import {
  execute,
  postgresMissing,
  postgresVersion,
  startPostgres,
  type TestServer,
} from '../../test/support/postgres.ts'
import { startVersitygw } from '../../test/support/s3/engine.ts'
import type { TestS3 } from '../../test/support/s3/environment.ts'
import { scratch } from '../../test/support/scratch.ts'
import { filledRegistry, fingerprint } from './filled-registry.ts'
import type { Program } from './program.ts'
import { CACHE, startDaemon } from './registry.ts'

const S3_PROGRAM = process.env.PLIMSOLL_TEST_S3_PROGRAM ?? null

/** The servers and daemons that a measurement has started; interrupted, it leaves none behind. */
export class Servers {
  #end = async () => {}
  #closing: Promise<void> | null = null
  readonly #cleanup = new Cleanup({
    after: step => {
      this.#end = step
    },
  })
  /** The folder of measured registries. */
  readonly folder = scratch(this.#cleanup)

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => void this.close().finally(() => process.exit(1)))
  }

  /** Returns why there are no such servers on this machine; null if there are. */
  static missing(): string | null {
    if (S3_PROGRAM === null) return 'not measured: there is no S3 server (npm run setup:s3)'
    return postgresMissing()
  }

  /** Starts a PostgreSQL that syncs its commits, with the records of `filledRegistry`. */
  async filled(size: number): Promise<TestServer> {
    return this.postgres(await filledServer(size, this.#cleanup))
  }

  /** Starts a PostgreSQL that syncs its commits, on a copy of a data folder if given. */
  async postgres(from?: string): Promise<TestServer> {
    const server = await startPostgres({ isDurable: true, ...(from !== undefined && { from }) })
    this.#cleanup.add(() => server.close())
    return server
  }

  /** Starts versitygw, as it comes: the types of objects are attributes of their files. */
  s3(): Promise<TestS3> {
    if (S3_PROGRAM === null) throw new Error('there is no S3 server')
    return startVersitygw(this.#cleanup, S3_PROGRAM, 'attributes')
  }

  /** Starts a daemon on a registry folder. */
  async daemon(dir: string, env: NodeJS.ProcessEnv): Promise<Program> {
    const daemon = await startDaemon(dir, env)
    this.#cleanup.add(() => daemon.stop())
    return daemon
  }

  /** Stops all of them, the last first, and removes their folders. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }
}

/** The database of a server that is filled. */
export const FILLED = 'filled'

/**
 * Returns the folder of the data of a PostgreSQL server with the records of `filledRegistry`. It is
 * made once and kept in the user's cache.
 */
async function filledServer(size: number, cleanup: Cleanup): Promise<string> {
  const name = `postgres-${size}-on-${postgresVersion()}-${await fingerprint()}`
  const folder = join(CACHE, 'bench', name)
  if (existsSync(folder)) return folder
  mkdirSync(join(CACHE, 'bench'), { recursive: true })
  for (const old of readdirSync(join(CACHE, 'bench')))
    if (old.startsWith(`postgres-${size}-`)) rmSync(join(CACHE, 'bench', old), { recursive: true })
  const { dir } = await filledRegistry(size)
  console.log(`copying a registry of ${size} crates to PostgreSQL, once …`)
  const server = await startPostgres()
  cleanup.add(() => server.close())
  try {
    await fill(await server.create(FILLED), join(dir, DATABASE_FILE))
    await server.kill()
    // With owner and mode, which PostgreSQL insists on.
    execFileSync('cp', ['-a', server.data, `${folder}.new`])
    renameSync(`${folder}.new`, folder)
  } finally {
    await server.close()
    rmSync(`${folder}.new`, { recursive: true, force: true })
  }
  return folder
}

async function fill(url: string, file: string): Promise<void> {
  const from = await openDatabase(file)
  const to = await openPostgres({ ...serverSettings(url), statement_seconds: 0 })
  await to.transaction(async tx => {
    await copyCatalog(from, tx)
    await continueIds(tx)
  })
  await to.close()
  await from.close()
  await execute(url, 'VACUUM ANALYZE')
  // Otherwise each start would go through the log of all this first.
  await execute(url, 'CHECKPOINT')
}
