import { availableParallelism } from 'node:os'
import { refuse } from '../../core/error/error.ts'
import type { Tasks } from './tasks.ts'
import { type TaskLimits, Thread } from './thread.ts'

/** Ordinary tasks take milliseconds and a few megabytes. */
const LIMITS: TaskLimits = { seconds: 20, megabytes: 256 }

/** Tasks that may wait for a thread; what comes beyond them is refused. */
const WAITING_MAX = 1000

/** Tasks that people wait for; all others leave one thread free for them. */
const URGENT: ReadonlySet<string> = new Set<keyof Tasks>(['inspect', 'adopt'])

type Input<T extends keyof Tasks> = Parameters<Tasks[T]>[0]
type Result<T extends keyof Tasks> = Awaited<ReturnType<Tasks[T]>>

/**
 * A small pool of worker threads in which all work on strangers' bytes is done: whatever it meets,
 * the event loop goes on, and what takes too much time or memory ends alone. Threads start with the
 * first tasks and stay; they never keep a process alive that has nothing else to do.
 */
export class Sandbox {
  readonly size: number
  readonly #program: URL
  readonly #limits: TaskLimits
  readonly #idle: Thread[] = []
  /** Who waits for a thread. */
  readonly #urgent: ((thread: Thread) => void)[] = []
  readonly #others: ((thread: Thread) => void)[] = []
  #running = 0
  #othersRunning = 0

  /** `size`: tasks at once that nobody waits for; `program`: that of the threads. */
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
   * Does a task in a thread. Throws the `Refusal` that it throws, and a `SandboxError` when it takes
   * too much or fails unforeseen. Refuses when too many wait already.
   */
  async run<T extends keyof Tasks>(task: T, input: Input<T>): Promise<Result<T>> {
    const parts = this.stream(task, input)
    for (;;) {
      const step = await parts.next()
      if (step.done) return step.value
    }
  }

  /** Does a task whose result comes in parts; it pauses while the caller is busy with one. */
  async *stream<T extends keyof Tasks>(
    task: T,
    input: Input<T>,
  ): AsyncGenerator<unknown, Result<T>> {
    const thread = await this.#thread(task)
    try {
      return (yield* thread.run({ task, input })) as Result<T>
    } finally {
      this.#release(thread, task)
    }
  }

  /** Ends all threads that have nothing to do. */
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
