import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { type Issue, issue, Refusal, refuse } from '../../core/error/error.ts'
import { withoutCredentials } from '../../core/urls.ts'
import { headRef, readHead } from './index-repository/bare-repository.ts'
import { finish } from './index-repository/git-process.ts'

export interface PushOptions {
  /** The index repository. */
  readonly path: string
  readonly gitCommand?: string
  /** The pauses between tries: from the first, doubled each time, up to the last. */
  readonly firstPauseMs?: number
  readonly lastPauseMs?: number
  /** The longest one push may take. */
  readonly timeoutMs?: number
  /** How long `close` waits for a push that runs. */
  readonly closeMs?: number
  /** Called after every failed attempt; the next one follows automatically. */
  readonly onFailure?: (failure: Refusal) => void
}

/** State of a remote. */
export interface PushState {
  /** The address without the password it may carry. */
  readonly remote: string
  /** The commit that arrived last; null before the first. */
  readonly pushed: string | null
  readonly at: Date | null
  /** Tries since the last success. */
  readonly failures: number
  readonly error: Issue | null
}

/** Pushes the index to remotes in the background; failures are retried and visible in `states`. */
export class IndexPush {
  readonly #remotes: readonly Remote[]

  constructor(remotes: readonly string[], options: PushOptions) {
    this.#remotes = remotes.map(remote => new Remote(remote, options))
  }

  /** Says that there are new commits; returns at once. */
  request(): void {
    for (const remote of this.#remotes) remote.request()
  }

  states(): readonly PushState[] {
    return this.#remotes.map(remote => remote.state)
  }

  /** Waits until every remote has either all that was asked for or a failure to wait for. */
  async settled(): Promise<void> {
    await Promise.all(this.#remotes.map(remote => remote.settled()))
  }

  /** Starts no other push and waits some seconds for running ones; a later push takes the rest. */
  async close(): Promise<void> {
    await Promise.all(this.#remotes.map(remote => remote.close()))
  }
}

/** Refuses a remote that git would read as an option or command instead of a URL or path. */
export function checkRemote(remote: string): string {
  if (
    !remote ||
    remote.startsWith('-') ||
    /[\s\0]/.test(remote) ||
    /^[A-Za-z][\w+.-]*::/.test(remote)
  )
    refuse('git_remote_invalid', { remote: withoutCredentials(remote) })
  return remote
}

class Remote {
  readonly #remote: string
  readonly #options: Required<PushOptions>
  state: PushState
  #wanted = false
  #running: Promise<void> | null = null
  #retry: NodeJS.Timeout | null = null
  #closed = false
  #child: ChildProcess | null = null
  #isLeft = false

  constructor(remote: string, options: PushOptions) {
    this.#remote = checkRemote(remote)
    const { path, ...others } = options
    this.#options = {
      gitCommand: 'git',
      firstPauseMs: 1_000,
      lastPauseMs: 300_000,
      timeoutMs: 300_000,
      closeMs: 15_000,
      onFailure: () => undefined,
      ...others,
      path: resolve(path),
    }
    this.state = {
      remote: withoutCredentials(remote),
      pushed: null,
      at: null,
      failures: 0,
      error: null,
    }
  }

  /** One push at a time; requests during it go with the next. A pause after a failure is kept. */
  request(): void {
    this.#wanted = true
    if (!this.#running && !this.#retry && !this.#closed) this.#start()
  }

  #start(): void {
    this.#retry = null
    this.#running = this.#pushAll().finally(() => {
      this.#running = null
      // Asked for between the last look and now.
      if (this.#wanted && !this.#retry && !this.#closed) this.#start()
    })
  }

  async #pushAll(): Promise<void> {
    while (this.#wanted && !this.#closed) {
      this.#wanted = false
      try {
        const pushed = await this.#push()
        this.state = { ...this.state, pushed, at: new Date(), failures: 0, error: null }
      } catch (error) {
        this.#wanted = true
        this.#failed(error)
        return
      }
    }
  }

  #failed(error: unknown): void {
    const failures = this.state.failures + 1
    const why = this.#explain(error)
    this.state = { ...this.state, failures, error: why }
    this.#options.onFailure(new Refusal([why]))
    if (this.#closed) return
    const { firstPauseMs, lastPauseMs } = this.#options
    const pause = Math.min(firstPauseMs * 2 ** Math.min(failures - 1, 30), lastPauseMs)
    this.#retry = setTimeout(() => this.#start(), pause)
    this.#retry.unref()
  }

  /** Pushes the branch under its own name, with the user's credentials, proxies and keys. */
  async #push(): Promise<string | null> {
    const { path, gitCommand, timeoutMs } = this.#options
    const [ref, head] = [await headRef(path), await readHead(path)]
    if (head === null) return null
    const child = spawn(
      gitCommand,
      ['--git-dir', path, 'push', '--porcelain', '--', this.#remote, `${head}:${ref}`],
      {
        env: pushEnvironment(path),
        // A session without a terminal: ssh fails instead of asking for a passphrase.
        detached: true,
      },
    )
    this.#child = child
    child.stdin.on('error', () => {})
    child.stdin.end()
    let report = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      report = `${report}${text}`.slice(-4000)
    })
    const timer = setTimeout(() => endGroup(child), timeoutMs)
    try {
      await finish(child, 'push')
    } catch (error) {
      // The machine-readable lines name the reason (git-push, "OUTPUT").
      if (/^!\t.*\((?:non-fast-forward|fetch first)\)/m.test(report))
        throw new Refusal([this.#diverged()])
      throw error
    } finally {
      clearTimeout(timer)
      this.#child = null
    }
    return head
  }

  #diverged(): Issue {
    return issue('git_push_diverged', { remote: withoutCredentials(this.#remote) })
  }

  #explain(error: unknown): Issue {
    if (this.#isLeft) {
      return issue('git_push_left', {
        remote: withoutCredentials(this.#remote),
        seconds: this.#options.closeMs / 1000,
      })
    }
    if (error instanceof Refusal && error.has('git_push_diverged')) return error.issues[0]
    const said = (error instanceof Error ? error.message : String(error)).replaceAll(
      this.#remote,
      withoutCredentials(this.#remote),
    )
    const detail = /^`git push` failed: (.*); run `plimsoll verify`/s.exec(said)?.[1] ?? said
    return issue('git_push_failed', {
      remote: withoutCredentials(this.#remote),
      detail: withoutCredentials(detail),
    })
  }

  async settled(): Promise<void> {
    while (this.#running) await this.#running
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#retry) clearTimeout(this.#retry)
    this.#retry = null
    const patience = setTimeout(() => this.#leave(), this.#options.closeMs)
    await this.settled()
    clearTimeout(patience)
  }

  #leave(): void {
    if (!this.#child) return
    this.#isLeft = true
    endGroup(this.#child)
  }
}

/** The user's environment without variables that redirect git, and without questions. */
function pushEnvironment(path: string): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { ...process.env }
  const elsewhere = [
    'DIR',
    'WORK_TREE',
    'INDEX_FILE',
    'OBJECT_DIRECTORY',
    'ALTERNATE_OBJECT_DIRECTORIES',
    'NAMESPACE',
  ]
  for (const name of elsewhere) delete environment[`GIT_${name}`]
  const given = Number(process.env.GIT_CONFIG_COUNT ?? 0)
  return {
    ...environment,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(given + 1),
    [`GIT_CONFIG_KEY_${given}`]: 'safe.directory',
    [`GIT_CONFIG_VALUE_${given}`]: path,
  }
}

/** Ends git and its children: a waiting ssh would keep running, and hold our pipes. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined || process.platform === 'win32') return void child.kill('SIGTERM')
  try {
    process.kill(-child.pid, 'SIGTERM')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
