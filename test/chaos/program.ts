import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../support/plimsoll.ts'
import { Violation } from './run.ts'

/** How a process ended: its exit code, or the signal. */
export type Ending = number | NodeJS.Signals | null

/** How `plimsoll` is started besides its arguments. */
export interface Manner {
  readonly env?: Readonly<Record<string, string>>
  /** Options of Node. */
  readonly node?: readonly string[]
  /** A command that starts Node, such as `sh -c 'ulimit …; exec "$@"' sh`. */
  readonly through?: readonly string[]
}

/** The settings of every registry here: nothing is limited by a rate, the log has errors. */
const ENV = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '/',
  PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test',
  PLIMSOLL_LOG_LEVEL: 'error',
  PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0',
  PLIMSOLL_OWNERS_PUBLIC: 'true',
}

/** A real `plimsoll` in its own process. */
export class Program {
  /** The program as users run it. */
  static readonly path = join(root, 'dist', 'program', 'cli.js')
  readonly child: ChildProcess
  readonly ended: Promise<Ending>
  readonly args: readonly string[]
  #stdout = ''
  #stderr = ''
  #ending: Ending | undefined

  constructor(args: readonly string[], manner: Manner = {}) {
    this.args = args
    const [command = '', ...rest] = [
      ...(manner.through ?? []),
      process.execPath,
      ...(manner.node ?? []),
      Program.path,
      ...args,
    ]
    this.child = spawn(command, rest, { env: Program.environment(manner.env), stdio: 'pipe' })
    this.child.stdout?.on('data', chunk => {
      this.#stdout += String(chunk)
    })
    this.child.stderr?.on('data', chunk => {
      this.#stderr = `${this.#stderr}${chunk}`.slice(-100_000)
    })
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject)
      this.child.on('close', (code, signal) => {
        this.#ending = code ?? signal
        resolve(this.#ending)
      })
    })
  }

  /** The environment of every program here. */
  static environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { ...ENV, ...more }
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }

  /** Its output after a good end; any other end is a violation. */
  async result(): Promise<string> {
    const ending = await this.ended
    if (ending !== 0) throw new Violation(this.story(`ended with ${ending}`))
    return this.#stdout
  }

  /** The URL that a daemon listens on, once it does. */
  async url(): Promise<string> {
    for (;;) {
      const url = /^listening on (\S+?)\/?$/m.exec(this.#stdout)?.[1]
      if (url) return url
      if (this.hasEnded) throw new Violation(this.story(`ended with ${this.#ending}`))
      await Promise.race([
        this.ended,
        new Promise(resolve => this.child.stdout?.once('data', resolve)),
      ])
    }
  }

  /** Its command, its end, and its output. */
  story(what: string): string {
    return `\`plimsoll ${this.args.join(' ')}\` ${what}\n${this.#stdout.slice(-2000)}${this.#stderr.slice(-4000)}`
  }
}

/** A registry folder and operations on it from outside. */
export class Folder {
  readonly dir: string
  readonly #manner: Manner

  constructor(dir: string, manner: Manner = {}) {
    this.dir = dir
    this.#manner = manner
  }

  /** Starts a command on this folder. */
  start(args: readonly string[], manner: Manner = {}): Program {
    return new Program([...args, '--dir', this.dir], {
      ...this.#manner,
      ...manner,
      env: { ...this.#manner.env, ...manner.env },
    })
  }

  /** Runs a command to its end, which must be good; returns its output. */
  run(...args: string[]): Promise<string> {
    return this.start(args).result()
  }

  /** Starts the daemon on a free port. */
  serve(manner: Manner = {}): Program {
    return this.start(['serve', '--listen', '127.0.0.1:0'], manner)
  }

  /** Makes the registry with these users, the first an administrator; gives their tokens. */
  async prepare(...logins: string[]): Promise<string[]> {
    await this.run('init')
    const tokens: string[] = []
    for (const login of logins) {
      await this.run('user', 'add', login)
      tokens.push((await this.run('token', 'create', '--user', login)).trim())
    }
    return tokens
  }

  /** Fails unless `verify` finds nothing. */
  async verify(): Promise<void> {
    const program = this.start(['verify'])
    if ((await program.ended) !== 0) throw new Violation(program.story('found something'))
  }
}
