import type { Logger } from 'pino'
import type { OnFailure } from '../../core/async/on-failure.ts'
import { Repeater } from '../../core/async/repeater.ts'
import { fetchProblem, GitIndex } from '../../generator/git/git-index.ts'
import type { Lease } from '../../generator/places/locks/process-mutex.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Worker } from './worker.ts'

const LOOK_EVERY = 2000
const LONGEST_PAUSE = 60_000
/**
 * How long a commit waits for more changes, and for how long at most while they keep coming. To
 * start a process stops the event loop for longer than a publish takes.
 */
const GATHER_MS = 100
const MAX_GATHER_MS = 2000
/** One commit a second, after a few in a row. */
const APART = 1000
const AT_ONCE = 3

/**
 * Commits all pending changes to the git index after publishes, in one commit. Reports a failed
 * commit and retries it after growing pauses. Of several daemons, the one with the lease does so.
 */
export class GitWorker implements Worker {
  readonly #index: GitIndex
  readonly #lease: Lease
  readonly #onFailure: OnFailure
  readonly #repeater = new Repeater(() => this.#commit())
  #isLeading: boolean
  #failures = 0
  /** When as many commits as `AT_ONCE` may be made at once again. */
  #rested = 0
  /** When the first change arrived that is not committed yet. */
  #since: number | null = null

  /** `isLeading`: whether the lease was taken when the index was opened. */
  constructor(
    index: GitIndex,
    { lease, isLeading }: { readonly lease: Lease; readonly isLeading: boolean },
    onFailure: OnFailure,
  ) {
    this.#index = index
    this.#lease = lease
    this.#isLeading = isLeading
    this.#onFailure = onFailure
  }

  /** Commits `config.json` before the daemon announces its address. */
  async start(): Promise<void> {
    this.#repeater.schedule(0)
    try {
      if (await this.#leads()) await this.#index.commitConfig()
    } catch (error) {
      this.#onFailure(error)
    }
  }

  wake(): void {
    if (this.#failures > 0) return
    const now = performance.now()
    this.#since ??= now
    const gather = Math.min(GATHER_MS, this.#since + MAX_GATHER_MS - now)
    const rest = this.#rested - (AT_ONCE - 1) * APART - now
    this.#repeater.schedule(Math.max(0, gather, rest))
  }

  async close(): Promise<void> {
    await this.#repeater.close()
    await this.#commit()
    await this.#index.close()
    await this.#lease.close()
  }

  async #leads(): Promise<boolean> {
    const isMine = await this.#lease.isMine()
    if (isMine && !this.#isLeading) await this.#index.lead()
    this.#isLeading = isMine
    return isMine
  }

  async #commit(): Promise<number> {
    this.#since = null
    try {
      const commits = (await this.#leads()) ? await this.#index.commit() : 0
      if (commits > 0) this.#rested = Math.max(this.#rested, performance.now()) + APART
      this.#failures = 0
      this.#onFailure.done?.()
    } catch (error) {
      this.#failures++
      this.#onFailure(error)
    }
    return Math.min(LOOK_EVERY * 2 ** this.#failures, LONGEST_PAUSE)
  }
}

/** Opens the git index; null where there is none. */
export async function openGitWorker(
  registry: Registry,
  log: Logger,
  reports: Record<'onFailure' | 'onPushFailure', OnFailure>,
): Promise<GitWorker | null> {
  const lease = registry.locks.lease('git')
  const isLeading = await lease.isMine()
  const onMissing = (refusal: Error) => log.warn({ err: refusal }, 'there is no git index')
  const { onFailure, onPushFailure } = reports
  const index = await GitIndex.openToUpdate(registry, { onMissing, onPushFailure }, isLeading)
  if (!index) {
    // Another daemon may have the missing parts.
    await lease.close()
    return null
  }
  const problem = await fetchProblem()
  if (problem) log.warn(problem.message)
  return new GitWorker(index, { lease, isLeading }, onFailure)
}
