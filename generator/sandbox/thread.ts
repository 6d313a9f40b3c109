import { Worker } from 'node:worker_threads'
import { type Issue, Refusal } from '../../core/error/error.ts'

/** A task for a worker thread. */
export interface Request {
  readonly task: string
  readonly input: unknown
}

/** The reply of a worker thread to its task. */
export type Reply =
  | { readonly result: unknown }
  | { readonly refusal: readonly [Issue, ...Issue[]]; readonly retryAfter: number | undefined }
  | { readonly failure: string }

/** The limits of one task. */
export interface TaskLimits {
  /** Seconds of processor time. */
  readonly seconds: number
  /** Megabytes of heap. */
  readonly megabytes: number
}

/** Thrown for a task that took too much time or memory, or failed with an unexpected error. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
  readonly reason: 'time' | 'memory' | 'failure'

  constructor(reason: SandboxError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** A task may take this many times its limit in wall time, because it may get no processor. */
const WALL_TIME_FACTOR = 10

/** A worker thread; runs one task at a time, and keeps the process alive only during a task. */
export class Thread {
  isEnded = false
  /** Whether it has run no task yet: the first one also loads the program. */
  isNew = true
  readonly #worker: Worker
  readonly #limits: TaskLimits

  constructor(program: URL, limits: TaskLimits) {
    this.#limits = limits
    this.#worker = new Worker(program, {
      // Threads get neither the process's flags nor its environment, which may contain secrets.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.megabytes, maxYoungGenerationSizeMb: 32 },
    })
    const end = () => {
      this.isEnded = true
    }
    // An error of a thread that has no task would end the process if nobody listened.
    this.#worker.on('exit', end).on('error', end)
    this.#worker.unref()
  }

  /**
   * Runs a task and returns its result. Throws the task's `Refusal`, or a `SandboxError` when it
   * exceeds a limit or fails. A task that does not finish ends the thread.
   */
  async run(request: Request): Promise<unknown> {
    let isDone = false
    this.isNew = false
    this.#worker.ref()
    try {
      const reply = await this.#ask(request)
      isDone = true
      if ('result' in reply) return reply.result
      if ('failure' in reply) throw new SandboxError('failure', reply.failure)
      const { refusal, retryAfter } = reply
      throw new Refusal(refusal, retryAfter === undefined ? {} : { retryAfter })
    } finally {
      this.#worker.unref()
      if (!isDone) await this.end()
    }
  }

  /** Stops the thread, even during a task. */
  async end(): Promise<void> {
    this.isEnded = true
    await this.#worker.terminate()
  }

  async #ask(message: Request): Promise<Reply> {
    const worker = this.#worker
    return new Promise<Reply>((resolve, reject) => {
      const settle = (act: () => void) => {
        endWatch()
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        act()
      }
      const onMessage = (reply: Reply) => settle(() => resolve(reply))
      const onError = (error: Error) => settle(() => reject(this.#explain(error)))
      const onExit = () => settle(() => reject(this.#timeError()))
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      const endWatch = watchTime(this.#limits.seconds, () => void this.end())
      worker.postMessage(message)
    })
  }

  #timeError(): SandboxError {
    const { seconds } = this.#limits
    return new SandboxError('time', `it takes more than ${seconds} seconds of processor time`)
  }

  #explain(error: Error): SandboxError {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY')
      return new SandboxError('failure', error.stack ?? error.message)
    return new SandboxError('memory', `it takes more than ${this.#limits.megabytes} MB of memory`)
  }
}

/**
 * Calls `onExcess` once a task takes more than the limit, or far longer because it gets no
 * processor. Returns what ends the watch. The first half of the limit is wall time: to ask for the
 * processor time takes as long as a small task.
 */
function watchTime(seconds: number, onExcess: () => void): () => void {
  const [begin, half] = [performance.now(), seconds / 2]
  let timer = setTimeout(() => {
    const before = process.cpuUsage()
    const check = () => {
      const elapsed = (performance.now() - begin) / 1000
      const { user, system } = process.cpuUsage(before)
      // The processor time of the whole process: no thread can have used more than that.
      const left = half - Math.min((user + system) / 1e6, elapsed - half)
      if (left <= 0 || elapsed >= seconds * WALL_TIME_FACTOR) onExcess()
      else timer = setTimeout(check, Math.max(left, 0.01) * 1000).unref()
    }
    check()
  }, half * 1000).unref()
  return () => clearTimeout(timer)
}
