import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Cleanup } from '../support/cleanup.ts'
import { root } from '../support/plimsoll.ts'

const saboteur = pathToFileURL(join(dirname(fileURLToPath(import.meta.url)), 'saboteur.js')).href

/** A death at every fourth step of a command takes most of a minute; `PLIMSOLL_CRASH=every` leaves none out. */
export const STRIDE = process.env.PLIMSOLL_CRASH === 'every' ? 1 : 4

/** How a process ended: its exit code, or the signal. */
export type Ending = number | NodeJS.Signals | null

/** A real `plimsoll` that dies before a given step of its work. */
export class Victim {
  readonly child: ChildProcess
  readonly ended: Promise<Ending>
  readonly #when: string
  readonly #log: string
  #said = ''
  #hasEnded = false

  /**
   * `at`: the number or name of the step before which it dies; 0 for never. `folder` takes what is recorded about it. What
   * `cleanup` has besides is there for the victim: it goes when this process has ended.
   */
  constructor(
    cleanup: Cleanup,
    folder: string,
    at: number | string,
    args: readonly string[],
    more: NodeJS.ProcessEnv = {},
  ) {
    this.#when = join(folder, 'sabotage')
    this.#log = join(folder, 'steps')
    rmSync(this.#when, { force: true })
    rmSync(this.#log, { force: true })
    const env = {
      PATH: process.env.PATH,
      SABOTAGE_AT: String(at),
      SABOTAGE_WHEN: this.#when,
      SABOTAGE_LOG: this.#log,
      // Its commits follow in their own time; their steps would come in between at random.
      PLIMSOLL_GIT_INDEX: 'off',
      PLIMSOLL_LOG_LEVEL: 'error',
      PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0',
      ...more,
    }
    const program = join(root, 'dist', 'program', 'cli.js')
    this.child = spawn(process.execPath, ['--import', saboteur, program, ...args], {
      env,
      stdio: 'pipe',
    })
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject)
      this.child.on('close', (code, signal) => {
        this.#hasEnded = true
        resolve(code ?? signal)
      })
    })
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString()
    })
    cleanup.add(async () => {
      this.child.kill('SIGKILL')
      await this.ended
    })
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** From now on its steps count. */
  arm(): void {
    writeFileSync(this.#when, '')
  }

  /** From now on they do not. */
  disarm(): void {
    rmSync(this.#when, { force: true })
  }

  /** The steps it has taken since it was armed, the one it died before last. */
  steps(): string[] {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8').trimEnd().split('\n') : []
  }

  /** The URL it listens on, once it does. */
  async url(): Promise<string> {
    for await (const line of createInterface({
      input: this.child.stdout as NodeJS.ReadableStream,
    })) {
      const url = /^listening on (\S+)$/.exec(line)?.[1]
      if (url) {
        this.child.stdout?.resume()
        return url
      }
    }
    throw new Error(`the daemon ended with ${await this.ended}\n${this.#said}`)
  }
}
