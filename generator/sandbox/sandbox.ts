import { availableParallelism } from 'node:os'
import { refuse } from '../../core/error/error.ts'
import type { Tasks } from './tasks.ts'
import { type TaskLimits, Thread } from './thread.ts'

/** Ordinary tasks take milliseconds and a few megabytes. */
const LIMITS: TaskLimits = { seconds: 20, megabytes: 256 }

/** The most tasks that may wait for a thread; more are refused. */
const WAITING_MAX = 1000

/** Tasks that clients wait for; all other tasks leave one thread free for them. */
const URGENT: ReadonlySet<string> = new Set<keyof Tasks>(['inspect', 'adopt'])

type Input<T extends keyof Tasks> = Parameters<Tasks[T]>[0]
type Result<T extends keyof Tasks> = Awaited<ReturnType<Tasks[T]>>

/**
 * A small pool of worker threads for all work on untrusted bytes: the event loop is never blocked,
 * and a task that takes too much time or memory ends only its own thread. Threads start with the
 * first tasks and stay; idle threads do not keep the process alive.
 */
export class Sandbox {
  readonly size: number
  readonly #program: URL
  readonly #limits: TaskLimits
  readonly #idle: Thread[] = []
  /** Tasks that wait for a thread. */
  readonly #urgent: ((thread: Thread) => void)[] = []
  readonly #others: ((thread: Thread) => void)[] = []
  #running = 0
  #othersRunning = 0

  /** `size`: the most concurrent tasks that are not urgent; `program`: the threads' program. */
  constructor({
    size = Math.min(availableParallelism(), 8),
    program = new URL('./worker.js', import.meta.url),
    limits = LIMITS,
  } = {}) {
    this.size = size
    this.#program = program
    this.#limits = limits
  }

  /**
   * Runs a task in a thread. Throws the task's `Refusal`, or a `SandboxError` when it exceeds a
   * limit or fails unexpectedly. Refuses when too many tasks are waiting.
   */
  async run<T extends keyof Tasks>(task: T, input: Input<T>): Promise<Result<T>> {
    const thread = await this.#thread(task)
    try {
      return (await thread.run({ task, input })) as Result<T>
    } finally {
      this.#release(thread, task)
    }
  }

  /** Ends all idle threads. */
  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(thread => thread.end()))
  }

  #thread(task: string): Promise<Thread> {
    if (this.#urgent.length + this.#others.length >= WAITING_MAX) refuse('sandbox_busy')
    return new Promise(resolve => {
      const queue = URGENT.has(task) ? this.#urgent : this.#others
      queue.push(resolve)
      this.#next()
    })
  }

  #release(thread: Thread, task: string): void {
    this.#running--
    if (!URGENT.has(task)) this.#othersRunning--
    if (!thread.isEnded) this.#idle.push(thread)
    this.#next()
  }

  #next(): void {
    if (this.#running > this.size) return
    const urgent = this.#urgent.shift()
    const begin = urgent ?? (this.#othersRunning < this.size ? this.#others.shift() : undefined)
    if (!begin) return
    this.#running++
    if (!urgent) this.#othersRunning++
    begin(this.#idle.pop() ?? new Thread(this.#program, this.#limits))
  }
}

/** The sandbox of this process. */
export const sandbox = new Sandbox()
