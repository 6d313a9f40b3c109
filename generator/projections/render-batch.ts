import { Mutex } from '../../core/async/mutex.ts'
import type { Database } from '../database/connection.ts'
import type { PublicTree } from '../places/public-tree.ts'
import type { HeldMutex, SyncBatch } from '../places/sync-batch.ts'
import type { Records } from '../records/crate-change.ts'
import { type Mark, type MarkSubject, settleMarks } from '../records/marks.ts'

/** The most marks that are cleared in one transaction. */
const CLEARED_MAX = 1000

type RenderedRecords = Records & { readonly tree: PublicTree }

/**
 * Rendered files that are synced together, and their marks, which stay until then: after a crash
 * the next start renders them again.
 */
export class RenderBatch {
  readonly #context: RenderedRecords
  readonly #batch: SyncBatch
  readonly #settling = new Mutex()
  #done: Mark[] = []
  #again: MarkSubject[] = []

  /** `mutex`: what the caller of `settle` holds, if it does; for writers of a shared bucket. */
  constructor(context: RenderedRecords, mutex?: HeldMutex) {
    this.#context = context
    this.#batch = context.tree.newBatch(mutex)
  }

  /** The public tree, whose changes wait for `settle`. */
  get tree(): PublicTree {
    return this.#context.tree.within(this.#batch)
  }

  /** How many marks wait for `settle`. */
  get size(): number {
    return this.#done.length
  }

  /** Adds marks whose files are rendered, and those to render again. */
  add(done: readonly Mark[], again: readonly MarkSubject[] = []): void {
    for (const mark of done) this.#done.push(mark)
    this.#again.push(...again)
  }

  /** Syncs what was rendered, then clears its marks; runs one call at a time. */
  settle(): Promise<void> {
    return this.#settling.run(async () => {
      const [done, again] = [this.#done, this.#again]
      this.#done = []
      this.#again = []
      await this.#batch.sync()
      const { database } = this.#context
      for (let at = 0; at < Math.max(done.length, again.length); at += CLEARED_MAX)
        await this.#clear(database, done.slice(at, at + CLEARED_MAX), at === 0 ? again : [])
    })
  }

  #clear(database: Database, done: readonly Mark[], again: readonly MarkSubject[]): Promise<void> {
    return settleMarks(database, done, again, async tx => {
      for (const { onSettled } of this.#context.followers) await onSettled?.(tx, done)
    })
  }
}
