import { Worker } from 'node:worker_threads'
import { writing } from './fault.ts'
import { steps } from './steps.ts'

type Steps = typeof steps
type Name = keyof Steps

/** A step for the thread. */
export interface Order {
  readonly step: Name
  readonly parameters: readonly unknown[]
}

/** The result of a step; errors lose their class on the way between threads. */
export type Outcome =
  | { readonly value: unknown }
  | { readonly error: Pick<NodeJS.ErrnoException, 'code' | 'syscall' | 'path' | 'message'> }

interface Waiting extends Order {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs `steps`, one after the other: at once, as commands want it, or in a thread, so that a slow
 * disk never blocks a daemon's event loop. Steps that come while the thread works go to it
 * together, because each message costs more than a step.
 */
export class Disk {
  #usesThread = false
  #worker: Worker | null = null
  #waiting: Waiting[] = []
  #sent: readonly Waiting[] = []

  /** Has a thread run all later steps; it starts with the first of them. */
  useThread(): void {
    this.#usesThread = true
  }

  /** Starts the thread that is to run steps, for one that comes soon: that takes 30 ms. */
  prepare(): void {
    if (this.#usesThread) this.#worker ??= this.#start()
  }

  /** Runs a step; refuses a full or read-only disk, and throws other errors of the system. */
  run<N extends Name>(step: N, ...parameters: Parameters<Steps[N]>): Promise<ReturnType<Steps[N]>> {
    const work = steps[step] as (...args: unknown[]) => ReturnType<Steps[N]>
    if (!this.#usesThread) return writing(async () => work(...parameters))
    return writing(
      () =>
        new Promise((resolve, reject) => {
          this.#waiting.push({
            step,
            parameters,
            resolve: resolve as (value: unknown) => void,
            reject,
          })
          // Steps of the same tick go together, too.
          if (this.#sent.length === 0) setImmediate(() => this.#send())
        }),
    )
  }

  async close(): Promise<void> {
    this.#usesThread = false
    await this.#worker?.terminate()
  }

  #send(): void {
    if (this.#sent.length > 0 || this.#waiting.length === 0) return
    this.#worker ??= this.#start()
    this.#sent = this.#waiting.splice(0)
    const transfer: ArrayBuffer[] = []
    const orders = this.#sent.map(({ step, parameters }): Order => {
      const copies = parameters.map(parameter => {
        if (!(parameter instanceof Uint8Array)) return parameter
        // A view, such as a small Buffer, would take all of its memory along.
        const copy = new Uint8Array(parameter)
        transfer.push(copy.buffer)
        return copy
      })
      return { step, parameters: copies }
    })
    this.#worker.ref()
    this.#worker.postMessage(orders, transfer)
  }

  #start(): Worker {
    // Descriptors are opened there and closed here: Node must neither warn nor close them itself.
    const options = { trackUnmanagedFds: false }
    const worker = new Worker(new URL('./worker.js', import.meta.url), options)
    worker.on('message', (outcomes: readonly Outcome[]) => {
      const sent = this.#sent
      this.#sent = []
      worker.unref()
      for (const [at, { resolve, reject }] of sent.entries()) {
        const outcome = outcomes[at] as Outcome
        if ('value' in outcome) resolve(outcome.value)
        else reject(Object.assign(new Error(outcome.error.message), outcome.error))
      }
      this.#send()
    })
    worker.unref() // after the listener, which holds the process itself
    let cause: unknown = null
    worker.on('error', error => {
      cause = error
    })
    worker.on('exit', () => {
      this.#worker = null
      const lost = [...this.#sent, ...this.#waiting.splice(0)]
      this.#sent = []
      for (const { reject } of lost) reject(new Error('the disk thread has ended', { cause }))
    })
    return worker
  }
}

/** The disk of this process. */
export const disk = new Disk()
