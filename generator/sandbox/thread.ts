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
    // Without a listener, the error of a thread that has no task would end the process.
    this.#worker.on('exit', end).on('error', end)
    this.#worker.unref()
  }

  /**
   * Runs a task and returns its result. Throws the task's `Refusal`, or a `SandboxError` when it
   * exceeds a limit or fails. A task that does not finish ends the thread.
   */
  async run(request: Request): Promise<unknown> {
    const meter = new Meter(this.#limits.seconds, () => void this.end())
    let isDone = false
    this.isNew = false
    this.#worker.ref()
    try {
      const reply = await this.#ask(request, meter)
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

  async #ask(message: Request, meter: Meter): Promise<Reply> {
    const worker = this.#worker
    return new Promise<Reply>((resolve, reject) => {
      const settle = (act: () => void) => {
        meter.stop()
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        act()
      }
      const onMessage = (reply: Reply) => settle(() => resolve(reply))
      const onError = (error: Error) => settle(() => reject(this.#explain(error)))
      const onExit = () => settle(() => reject(this.#timeError()))
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      meter.start()
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
 * Calls `onExcess` when the time between `start` and `stop` exceeds the limit. The first half of
 * the limit is wall time, which costs nothing to measure and is enough for nearly all tasks.
 */
class Meter {
  readonly #half: number
  readonly #onExcess: () => void
  #waited = 0
  #used = 0
  #since = { at: 0, cpu: null as NodeJS.CpuUsage | null }
  #timer: NodeJS.Timeout | undefined

  constructor(seconds: number, onExcess: () => void) {
    this.#half = seconds / 2
    this.#onExcess = onExcess
  }

  start(): void {
    const cpu = this.#waited < this.#half ? null : process.cpuUsage()
    this.#since = { at: performance.now(), cpu }
    const rest = this.#half - (cpu ? this.#used : this.#waited)
    this.#timer = setTimeout(() => this.#check(), Math.max(rest, 0.01) * 1000)
    this.#timer.unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
    const { at, cpu } = this.#since
    const waited = (performance.now() - at) / 1000
    this.#waited += waited
    if (!cpu) return
    const { user, system } = process.cpuUsage(cpu)
    // The processor time of the whole process: no thread can have used more than that.
    this.#used += Math.min((user + system) / 1e6, waited)
  }

  #check(): void {
    this.stop()
    if (this.#used >= this.#half || this.#waited >= this.#half * 2 * WALL_TIME_FACTOR)
      this.#onExcess()
    else this.start()
  }
}
