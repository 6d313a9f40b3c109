import { availableParallelism } from 'node:os'
import { refuse } from '../../core/error/error.ts'
import { pace } from '../database/pace.ts'
import type { Tasks } from './tasks.ts'
import { type TaskLimits, Thread } from './thread.ts'

/** Ordinary tasks take milliseconds and a few megabytes. */
const LIMITS: TaskLimits = { seconds: 20, megabytes: 256 }

/** The most tasks that may wait for a thread; more are refused. */
const WAITING_MAX = 1000

/** The most tasks of one client that may wait; more are refused. */
const CLIENT_WAITING_MAX = 64

/** Milliseconds of the first task of a thread that no client has to answer for. */
const START_MS = 1000

/** Tasks that clients wait for; all other tasks leave one thread free for them. */
const URGENT: ReadonlySet<string> = new Set<keyof Tasks>(['inspect', 'adopt'])

/** A client; its urgent tasks run one at a time, so that others get their turns. */
export interface Client {
  readonly id: number
  /** Receives the milliseconds of processor time that a task took, even if it failed. */
  readonly onUsed: (milliseconds: number) => void
}

type Input<T extends keyof Tasks> = Parameters<Tasks[T]>[0]
type Result<T extends keyof Tasks> = Awaited<ReturnType<Tasks[T]>>
type Begin = (thread: Thread) => void

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
  /** Urgent tasks that wait for a thread, by client; the client served last comes last. */
  readonly #urgent = new Map<unknown, Begin[]>()
  /** The clients with a running urgent task. */
  readonly #served = new Set<unknown>()
  readonly #others: Begin[] = []
  #waiting = 0
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
   * limit or fails unexpectedly. Refuses when too many tasks are waiting, in all or of a client.
   */
  async run<T extends keyof Tasks>(task: T, input: Input<T>, client?: Client): Promise<Result<T>> {
    // Without a client, each task is on its own.
    const id = client?.id ?? Symbol()
    const thread = await this.#thread(task, id)
    // The input is copied for the thread: thousands of features take milliseconds.
    await pace()
    // Asking for the processor time takes as long as a small task.
    const used = client && startClock(thread.isNew ? START_MS : 0)
    try {
      return (await thread.run({ task, input })) as Result<T>
    } finally {
      if (used) client.onUsed(used())
      this.#release(thread, task, id)
    }
  }

  /** Starts a thread ahead of the first task, which takes longer than most tasks. */
  prepare(): void {
    this.#idle.push(this.#take())
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(thread => thread.end()))
  }

  #thread(task: string, id: unknown): Promise<Thread> {
    const own = this.#urgent.get(id) ?? []
    if (own.length >= CLIENT_WAITING_MAX) refuse('publishes_waiting', { max: CLIENT_WAITING_MAX })
    if (this.#waiting >= WAITING_MAX) refuse('sandbox_busy')
    return new Promise(resolve => {
      this.#waiting++
      if (!URGENT.has(task)) this.#others.push(resolve)
      else if (own.push(resolve) === 1) this.#urgent.set(id, own)
      this.#next()
    })
  }

  #release(thread: Thread, task: string, id: unknown): void {
    this.#running--
    if (!URGENT.has(task)) this.#othersRunning--
    if (!thread.isEnded) this.#idle.push(thread)
    this.#served.delete(id)
    const own = this.#urgent.get(id)
    if (own) {
      this.#urgent.delete(id)
      this.#urgent.set(id, own)
    }
    this.#next()
  }

  /** Takes an idle thread that has not ended by itself, or starts one. */
  #take(): Thread {
    let idle = this.#idle.pop()
    while (idle?.isEnded) idle = this.#idle.pop()
    return idle ?? new Thread(this.#program, this.#limits)
  }

  #next(): void {
    if (this.#running > this.size) return
    const urgent = this.#nextUrgent()
    const begin = urgent ?? (this.#othersRunning < this.size ? this.#others.shift() : undefined)
    if (!begin) return
    this.#waiting--
    this.#running++
    if (!urgent) this.#othersRunning++
    begin(this.#take())
  }

  /** Takes the first task of the first client that has none running. */
  #nextUrgent(): Begin | undefined {
    for (const [id, own] of this.#urgent) {
      if (this.#served.has(id)) continue
      this.#served.add(id)
      if (own.length === 1) this.#urgent.delete(id)
      return own.shift()
    }
    return undefined
  }
}

/**
 * Returns a function that tells the milliseconds of processor time since now, without the `free`
 * ones: at most the elapsed time, and at most the time of the whole process.
 */
function startClock(free: number): () => number {
  const [at, before] = [performance.now(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(before)
    return Math.max(0, Math.min(performance.now() - at, (user + system) / 1000) - free)
  }
}

/** The sandbox of this process. */
export const sandbox = new Sandbox()
