import type { ArchiveTasks } from './workers/archive.ts'
import type { RenderTasks } from './workers/render.ts'
import type { Reply, Request, Tasks } from './workers/serve.ts'

/** The workers of a page: one reads packages, the other colors and renders their files. */
export interface Workers {
  readonly archive: TaskWorker<ArchiveTasks>
  readonly render: TaskWorker<RenderTasks>
}

interface Pending {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly onProgress: ((progress: unknown) => void) | undefined
}

/**
 * A worker that reads strangers' bytes. If it is silent for `seconds`, it is ended with all of its
 * tasks; the next task gets a new worker.
 */
export class TaskWorker<T extends Tasks> {
  readonly #program: string
  readonly #seconds: number
  #worker: Worker | null = null
  #timer = 0
  #last = 0
  readonly #pending = new Map<number, Pending>()

  constructor(program: string, seconds: number) {
    this.#program = program
    this.#seconds = seconds
  }

  ask<K extends keyof T & string>(
    task: K,
    input: Parameters<T[K]>[0],
    onProgress?: (progress: unknown) => void,
  ): Promise<Awaited<ReturnType<T[K]>>> {
    this.#worker ??= this.#start()
    const id = ++this.#last
    this.#worker.postMessage({ id, task, input } satisfies Request)
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject, onProgress })
      this.#wait()
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL(this.#program, import.meta.url), { type: 'module' })
    worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => this.#hear(data))
    // A worker that runs out of memory ends with an error.
    worker.addEventListener('error', () => this.#end())
    return worker
  }

  #hear(reply: Reply): void {
    const pending = this.#pending.get(reply.id)
    if ('progress' in reply) pending?.onProgress?.(reply.progress)
    else this.#pending.delete(reply.id)
    if ('result' in reply) pending?.resolve(reply.result)
    if ('failure' in reply) pending?.reject(new Error(reply.failure))
    this.#wait()
  }

  #wait(): void {
    clearTimeout(this.#timer)
    if (this.#pending.size > 0)
      this.#timer = setTimeout(() => this.#end(), this.#seconds * 1000) as unknown as number
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#worker?.terminate()
    this.#worker = null
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) reject(new Error('it takes too long, or too much memory'))
  }
}
