import { setTimeout as sleep } from 'node:timers/promises'
import { Mutex } from '../../core/mutex.ts'
import { type LockFile, openLockFile, tryLock, unlock } from './lock-file.ts'

/**
 * Runs work of many callers, in this process and in others, one at a time. Callers of one process
 * are served in order. Between processes, two lock files decide: a process holds the queue file
 * while it waits for the work file, so that a process with many callers does not starve the others.
 */
export class ProcessMutex {
  readonly #path: string
  readonly #mutex = new Mutex()
  #files: { readonly queue: LockFile; readonly work: LockFile } | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Runs `work` when no other caller's work is running; waits without a limit. Not reentrant. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      this.#files ??= { queue: openLockFile(`${this.#path}.gate`), work: openLockFile(this.#path) }
      const { queue, work: file } = this.#files
      await lock(queue)
      try {
        await lock(file)
      } finally {
        unlock(queue)
      }
      try {
        return await work()
      } finally {
        unlock(file)
      }
    })
  }

  /** Waits for queued work to finish and closes the lock files. */
  async close(): Promise<void> {
    await this.#mutex.idle()
    this.#files?.queue.close()
    this.#files?.work.close()
    this.#files = null
  }
}

async function lock(file: LockFile): Promise<void> {
  for (let pause = 1; !tryLock(file, 'IMMEDIATE'); pause = Math.min(pause * 2, 10))
    await sleep(pause)
}
