import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Backoff } from '../../core/async/backoff.ts'
import type { OnFailure } from '../../core/async/on-failure.ts'
import { type Issue, issue, Refusal, refuse } from '../../core/error/error.ts'
import { withoutCredentials } from '../../core/urls/urls.ts'
import { readTip } from './index-repository/bare-repository.ts'
import { checkRemote, complaintOf, startGit } from './index-repository/git-process.ts'

export interface PushOptions {
  readonly path: string
  readonly gitCommand?: string
  /** The pause after the first failure; it doubles with each further one, up to `lastPauseMs`. */
  readonly firstPauseMs?: number
  readonly lastPauseMs?: number
  /** How long `close` waits for a running push. */
  readonly closeMs?: number
  /** Called after each failed attempt; another one follows automatically. */
  readonly onFailure: OnFailure<Refusal>
}

/** The longest time that a push may take, in milliseconds. */
const PUSH_MS = 300_000

/** Pushes the index to a remote in the background; reports failures and retries. */
export class Remote {
  readonly #url: string
  /** The URL without the password that it may contain. */
  readonly #shown: string
  readonly #options: Required<PushOptions>
  readonly #pauses: Backoff
  #wanted = false
  #running: Promise<void> | null = null
  readonly #closed = new AbortController()
  #child: ChildProcess | null = null
  #isLeft = false
  isFailing = false

  constructor(remote: string, options: PushOptions) {
    this.#url = checkRemote(remote)
    this.#shown = withoutCredentials(remote)
    this.#options = {
      gitCommand: 'git',
      firstPauseMs: 1_000,
      lastPauseMs: 300_000,
      closeMs: 15_000,
      ...options,
      path: resolve(options.path),
    }
    this.#pauses = new Backoff(this.#options.firstPauseMs, this.#options.lastPauseMs)
  }

  /** Requests a push and returns at once; requests during one share the next. Keeps the pause. */
  request(): void {
    this.#wanted = true
    if (!this.#closed.signal.aborted) this.#running ??= this.#pushAll()
  }

  async #pushAll(): Promise<void> {
    const { signal } = this.#closed
    while (this.#wanted && !signal.aborted) {
      this.#wanted = false
      try {
        await this.#push()
        this.#pauses.reset()
        this.isFailing = false
        this.#options.onFailure.done?.()
      } catch (error) {
        this.#wanted = true
        this.isFailing = true
        this.#options.onFailure(new Refusal([this.#explain(error)]))
        // Only `close` ends the pause early.
        await sleep(this.#pauses.next(), undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
    this.#running = null
  }

  /** Pushes the branch under its own name, with the user's credentials, proxies, and keys. */
  async #push(): Promise<void> {
    const { path, gitCommand } = this.#options
    const { ref, head } = await readTip(path)
    if (head === null) return
    const child = startGit(
      { command: gitCommand, path },
      ['push', '--porcelain', '--', this.#url, `${head}:${ref}`],
      // A session without a terminal: ssh fails instead of asking for a passphrase.
      { env: pushEnvironment(path), detached: true },
    )
    this.#child = child
    child.stdin.end()
    let report = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      report = `${report}${text}`.slice(-4000)
    })
    const timer = setTimeout(() => endGroup(child), PUSH_MS)
    try {
      const complaint = await complaintOf(child)
      if (complaint === null) return
      // The machine-readable lines contain the reason (git-push, "OUTPUT").
      if (/^!\t.*\((?:non-fast-forward|fetch first)\)/m.test(report))
        refuse('git_push_diverged', { remote: this.#shown })
      throw new Error(complaint)
    } finally {
      clearTimeout(timer)
      this.#child = null
    }
  }

  #explain(error: unknown): Issue {
    const remote = this.#shown
    if (this.#isLeft)
      return issue('git_push_left', { remote, seconds: this.#options.closeMs / 1000 })
    if (error instanceof Refusal && error.has('git_push_diverged')) return error.issues[0]
    const said = error instanceof Error ? error.message : String(error)
    const detail = withoutCredentials(said.replaceAll(this.#url, remote))
    return issue('git_push_failed', { remote, detail })
  }

  /** Starts no more pushes and waits a few seconds for a running one; a later push sends the rest. */
  async close(): Promise<void> {
    this.#closed.abort()
    const timer = setTimeout(() => {
      if (!this.#child) return
      this.#isLeft = true
      endGroup(this.#child)
    }, this.#options.closeMs)
    await this.#running
    clearTimeout(timer)
  }
}

/** Variables that would make git use another repository. */
const ELSEWHERE =
  'DIR WORK_TREE INDEX_FILE OBJECT_DIRECTORY ALTERNATE_OBJECT_DIRECTORIES NAMESPACE'.split(' ')

/** Returns the user's environment without variables that redirect git, and without prompts. */
function pushEnvironment(path: string): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { ...process.env }
  for (const name of ELSEWHERE) delete environment[`GIT_${name}`]
  const count = Number(process.env.GIT_CONFIG_COUNT ?? 0)
  return {
    ...environment,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'safe.directory',
    [`GIT_CONFIG_VALUE_${count}`]: path,
  }
}

/** Ends git and its children: a waiting ssh would keep running and hold the pipes open. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined || process.platform === 'win32') return void child.kill('SIGTERM')
  try {
    process.kill(-child.pid, 'SIGTERM')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
