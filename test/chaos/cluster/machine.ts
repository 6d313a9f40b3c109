import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { root } from '../../support/plimsoll.ts'
import { ask } from '../driver/api.ts'
import { Folder, type Program } from '../program.ts'
import { Violation } from '../run.ts'
import type { Gate } from './gate.ts'

const RESOLVER = pathToFileURL(join(root, 'dist', 'test', 'chaos', 'cluster', 'resolver.js')).href

/** The pause before a daemon that could not start is started again, in milliseconds. */
const AGAIN_MS = 500

/** Milliseconds after it listens in which a daemon is still starting, and may give up. */
const SETTLED_MS = 1500

/** The most lines of a log that are shown. */
const LINES = 20

/** A machine with a daemon, and its ways to the database and the bucket. */
export class Machine {
  readonly name: string
  readonly folder: Folder
  readonly database: Gate
  readonly bucket: Gate
  /** Whether its process runs and answers, from the view of a load balancer. */
  isUp = false
  #program: Program | null = null
  #url = ''
  #isEnding = false
  /** Starts that failed while something was broken. */
  failedStarts = 0

  constructor(
    name: string,
    place: { dir: string; env: Record<string, string>; database: Gate; bucket: Gate },
  ) {
    this.name = name
    this.database = place.database
    this.bucket = place.bucket
    this.folder = new Folder(place.dir, { env: place.env, node: ['--import', RESOLVER] })
  }

  get url(): string {
    return this.#url
  }

  /** Starts the daemon, repeatedly if a fault prevents it. */
  async start(isBroken: () => boolean): Promise<void> {
    for (;;) {
      const program = this.folder.serve()
      this.#program = program
      const wasBroken = isBroken()
      try {
        this.#url = await program.url()
        this.isUp = true
        await sleep(SETTLED_MS)
        if (!program.hasEnded || !this.isUp) return
        this.isUp = false
        throw new Violation(program.story('ended by itself'))
      } catch (error) {
        if (this.#isEnding) return
        if (!wasBroken && !isBroken()) throw error
        this.failedStarts++
        await sleep(AGAIN_MS)
      }
    }
  }

  async kill(): Promise<void> {
    this.isUp = false
    await this.#program?.kill()
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.kill()
    this.database.close()
    this.bucket.close()
  }

  /** Asks it to end, which has to be a good end. */
  async terminate(): Promise<void> {
    this.isUp = false
    this.#program?.child.kill('SIGTERM')
    await this.#program?.result()
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#program?.child.kill(signal)
  }

  async isReady(): Promise<boolean> {
    if (!this.isUp) return false
    const init = { signal: AbortSignal.timeout(5000) }
    return (await ask(`${this.#url}/readyz`, init))?.status === 200
  }

  /** Fails if the daemon has ended by itself. */
  ensureAlive(): void {
    if (this.isUp && this.#program?.hasEnded)
      throw new Violation(this.#program.story('ended by itself'))
  }

  /** The messages that it has logged of late. */
  story(what: string): string {
    const lines = (this.#program?.stderr ?? '').split('\n').slice(-LINES)
    const words = lines.map(line => {
      const { time, msg, err } = parsed(line)
      return msg === undefined
        ? line
        : `${new Date(time ?? 0).toISOString()} ${msg}: ${err?.message}`
    })
    return `${this.name} ${what}\n${words.map(line => `  ${line}\n`).join('')}`
  }
}

interface LogRecord {
  readonly time?: number
  readonly msg?: string
  readonly err?: { readonly message: string }
}

/** A line of a log; empty for other text. */
function parsed(line: string): LogRecord {
  try {
    return JSON.parse(line) as LogRecord
  } catch {
    return {}
  }
}
