import { Cleanup } from '../../support/cleanup.ts'
import { postgresMissing, startPostgres, type TestServer } from '../../support/postgres.ts'
import { startVersitygw } from '../../support/s3/engine.ts'
import type { TestS3 } from '../../support/s3/environment.ts'
import { scratch } from '../../support/scratch.ts'
import type { Program } from './program.ts'
import { startDaemon } from './registry.ts'
import { type Measurement, printTable } from './table.ts'

const S3_PROGRAM = process.env.PLIMSOLL_TEST_S3_PROGRAM ?? null

/** Runs a measurement and prints its table. What it has started ends then, and its folder goes. */
export async function bench(
  work: (servers: Servers) => Promise<readonly Measurement[]>,
): Promise<void> {
  const servers = new Servers()
  try {
    printTable(await work(servers))
  } finally {
    await servers.close()
  }
}

/** The servers and daemons that a measurement has started; interrupted, it leaves none behind. */
export class Servers {
  #end = async () => {}
  #closing: Promise<void> | null = null
  readonly cleanup = new Cleanup({
    after: step => {
      this.#end = step
    },
  })
  /** The folder of measured registries. */
  readonly folder = scratch(this.cleanup)

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => void this.close().finally(() => process.exit(1)))
  }

  /** Returns why there are no such servers on this machine; null if there are. */
  static missing(): string | null {
    if (S3_PROGRAM === null) return 'not measured: there is no S3 server (npm run setup:s3)'
    return postgresMissing()
  }

  /** Starts a PostgreSQL that syncs its commits. */
  async postgres(): Promise<TestServer> {
    const server = await startPostgres({ isDurable: true })
    this.cleanup.add(() => server.close())
    return server
  }

  /** Starts versitygw, as it comes: the types of objects are attributes of their files. */
  s3(): Promise<TestS3> {
    if (S3_PROGRAM === null) throw new Error('there is no S3 server')
    return startVersitygw(this.cleanup, S3_PROGRAM, 'attributes')
  }

  /** Starts a daemon on a registry folder. */
  daemon(dir: string, env: NodeJS.ProcessEnv = {}): Promise<Program> {
    return this.stopping(startDaemon(dir, env))
  }

  /** Has a program stopped at the end. */
  async stopping(started: Promise<Program>): Promise<Program> {
    const program = await started
    this.cleanup.add(() => program.stop())
    return program
  }

  /** Stops all of them, the last first, and removes their folders. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }
}
