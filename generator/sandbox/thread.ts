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
  #task: { resolve(reply: Reply): void; reject(error: SandboxError): void } | null = null

  constructor(program: URL, limits: TaskLimits) {
    this.#limits = limits
    this.#worker = new Worker(program, {
      // Threads get neither the process's flags nor its environment, which may contain secrets.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.megabytes, maxYoungGenerationSizeMb: 32 },
    })
    const fail = (error: SandboxError) => {
      this.isEnded = true
      this.#task?.reject(error)
    }
    this.#worker.on('message', (reply: Reply) => this.#task?.resolve(reply))
    // An error of a thread that has no task would end the process if nobody listened.
    this.#worker.on('error', error => fail(this.#explain(error)))
    this.#worker.on('exit', () => fail(this.#timeError()))
    this.#worker.unref()
  }

  /**
   * Runs a task and returns its result. Throws the task's `Refusal`, or a `SandboxError` when it
   * exceeds a limit or fails. A task that does not finish ends the thread. `onUsed` receives the
   * milliseconds of processor time that it took, also if it failed.
   */
  async run(request: Request, onUsed: (milliseconds: number) => void): Promise<unknown> {
    let isDone = false
    this.isNew = false
    this.#worker.ref()
    const endWatch = watchTime(this.#limits.seconds * 1000, () => void this.end())
    try {
      const reply = await new Promise<Reply>((resolve, reject) => {
        this.#task = { resolve, reject }
        this.#worker.postMessage(request)
      })
      isDone = true
      if ('result' in reply) return reply.result
      if ('failure' in reply) throw new SandboxError('failure', reply.failure)
      const { refusal, retryAfter } = reply
      throw new Refusal(refusal, retryAfter === undefined ? {} : { retryAfter })
    } finally {
      onUsed(endWatch())
      this.#worker.unref()
      if (!isDone) await this.end()
    }
  }

  /** Stops the thread, even during a task. */
  async end(): Promise<void> {
    this.isEnded = true
    await this.#worker.terminate()
  }

  #timeError(): SandboxError {
    const { seconds } = this.#limits
    return new SandboxError('time', `it takes more than ${seconds} seconds of processor time`)
  }

  #explain(error: Error): SandboxError {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY')
      return new SandboxError('failure', error.stack ?? error.message)
    return new SandboxError('memory', `it takes more than ${this.#limits.megabytes} MiB of memory`)
  }
}

/** Nearly all tasks take less, in milliseconds. */
const QUICK_MS = 10

/**
 * Calls `onExcess` once a task takes more processor time than `most` milliseconds, or far longer
 * because it gets none. Returns what ends the watch and tells the time that it took: at most that
 * of the whole process. The first milliseconds are wall time: asking takes as long as a small task.
 */
function watchTime(most: number, onExcess: () => void): () => number {
  const began = performance.now()
  let usage: NodeJS.CpuUsage | null = null
  const used = () => {
    const elapsed = performance.now() - began
    if (usage === null) return elapsed
    const { user, system } = process.cpuUsage(usage)
    return Math.min(elapsed, QUICK_MS + (user + system) / 1000)
  }
  const check = () => {
    usage ??= process.cpuUsage()
    const left = most - used()
    if (left <= 0 || performance.now() - began >= most * WALL_TIME_FACTOR) onExcess()
    else timer = setTimeout(check, Math.max(left, QUICK_MS)).unref()
  }
  let timer = setTimeout(check, QUICK_MS).unref()
  return () => {
    clearTimeout(timer)
    return used()
  }
}
