import { Worker } from 'node:worker_threads'
import { issue, Refusal } from '../../../core/error/error.ts'
import { isDamageCode } from './sqlite-file.ts'

/** How long a look after an error stands for those after more errors: a failing disk has many. */
const HOLDS_MS = 10_000

/** The reason of a failed read that left no damage: SQLite has one code for both. */
const READ_FAILED = 'a read of the database failed, and SQLite finds no damage'

/** The damage of databases in files, which is believed when SQLite has found it in the whole file. */
class Damage {
  /** Called once for each damaged database. */
  onFound: (reason: string) => void = () => undefined
  readonly #reasons = new Map<string, string>()
  readonly #looks = new Map<string, Promise<string | null>>()

  of(path: string): string | null {
    return this.#reasons.get(path) ?? null
  }

  /** Looks at a whole database in a thread, and keeps what it finds; null for a sound one. */
  async look(path: string): Promise<string | null> {
    const reason = await inThread(path)
    if (reason === null || this.of(path) !== null) return reason
    this.#reasons.set(path, reason)
    this.onFound(reason)
    return reason
  }

  /** Finds out what an error of a database means that speaks of damage; returns any other. */
  async explain(path: string, error: unknown): Promise<unknown> {
    if (!isDamageCode(error)) return error
    const reason = this.of(path) ?? (await this.#lookAgain(path))
    const told =
      reason === null
        ? issue('storage_failing', { reason: READ_FAILED })
        : issue('database_damaged', { reason })
    return new Refusal([told], { cause: error })
  }

  #lookAgain(path: string): Promise<string | null> {
    const recent = this.#looks.get(path)
    if (recent) return recent
    const expire = () => setTimeout(() => this.#looks.delete(path), HOLDS_MS).unref()
    const look = this.look(path)
    look.then(expire, expire)
    this.#looks.set(path, look)
    return look
  }
}

/** The damage that this process knows of. */
export const damage = new Damage()

function inThread(workerData: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const options = { workerData, trackUnmanagedFds: false }
    const worker = new Worker(new URL('./damage-worker.js', import.meta.url), options)
    worker.on('message', resolve)
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('the thread that looks for damage has ended')))
  })
}
