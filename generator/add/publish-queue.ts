import { Mutex } from '../../core/async/mutex.ts'
import { renderIndexed } from '../build/crate.ts'
import type { SyncBatch } from '../places/sync-batch.ts'
import type { Registry } from '../registry.ts'
import type { Change } from '../store/catalog/change.ts'
import { clearMarks, type FileMark, fileMarks, type Mark } from '../store/catalog/marks.ts'
import type { Added } from '../store/catalog/release-changes.ts'
import { type IndexedCrate, indexFiles } from '../store/catalog/releases.ts'
import { pace } from '../store/database/pace.ts'
import { attempt } from '../store/database/statement.ts'
import {
  type Acceptance,
  acceptance,
  type Checked,
  check,
  forgetRefused,
  keep,
  record,
  type Submission,
} from './add.ts'

/** The most publishes that share a turn: the first of them waits for the last. */
const MAX_TURN = 64

/** A recorded release; `rendered` settles when its index file is written, or rejects. */
export type Published = Acceptance & { readonly rendered: Promise<void> }

interface Waiting {
  readonly submission: Submission
  readonly checked: Checked
  readonly change: Change
  readonly resolve: (published: Published) => void
  readonly reject: (error: unknown) => void
}

/** The crates of a turn and the files to show, as its transaction has left them. */
interface Changed {
  readonly crates: readonly IndexedCrate[]
  readonly files: readonly FileMark[]
}

const NOTHING: Changed = { crates: [], files: [] }

/** The result of a publish, or the error of one that was refused or failed. */
type Outcome = { readonly value: Added } | { readonly error: unknown }

/**
 * Publishes releases as `addSubmission` adds them, and renders their crates. Concurrent publishes
 * share a turn of the process mutex, its transaction and its syncs. Rendered files need not be on
 * disk before the response: their marks stay until `settle`, and after a crash the next build
 * renders them again.
 */
export class PublishQueue {
  readonly #registry: Registry
  readonly #waiting: Waiting[] = []
  readonly #batch: SyncBatch
  readonly #settling = new Mutex()
  #marks: Mark[] = []
  #isRunning = false

  constructor(registry: Registry) {
    this.#registry = registry
    this.#batch = registry.tree.newBatch()
  }

  /** Resolves when the release is recorded; throws a `Refusal` with every issue. */
  async publish(submission: Submission, change: Change): Promise<Published> {
    const checked = await check(this.#registry, submission, change)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ submission, checked, change, resolve, reject })
      if (!this.#isRunning) void this.#run()
    })
  }

  /** Syncs rendered files to disk and clears their marks; runs one call at a time. */
  settle(): Promise<void> {
    return this.#settling.run(async () => {
      const marks = this.#marks
      this.#marks = []
      await this.#batch.sync()
      await clearMarks(this.#registry.database, marks)
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      try {
        await this.#registry.mutex.run(() => this.#turn(this.#waiting.splice(0, MAX_TURN)))
      } catch (error) {
        // Taking the mutex failed.
        for (const one of this.#waiting.splice(0)) one.reject(error)
      }
    }
    this.#isRunning = false
  }

  async #turn(turn: readonly Waiting[]): Promise<void> {
    const { outcomes, changed } = await this.#store(turn)
    const renders = this.#render(changed)
    const rendered = Promise.allSettled(renders.values())
    for (const [at, { checked, resolve, reject }] of turn.entries()) {
      const outcome = outcomes[at] as Outcome
      if ('error' in outcome) reject(await this.#reasonOf(outcome.error, checked))
      else {
        const render = renders.get(outcome.value.crate.id) as Promise<void>
        resolve({ ...acceptance(checked, outcome.value), rendered: render })
      }
    }
    await rendered
  }

  /** Stores the bytes of all, then records them in one transaction. */
  async #store(
    turn: readonly Waiting[],
  ): Promise<{ readonly outcomes: readonly Outcome[]; readonly changed: Changed }> {
    const kept = await Promise.allSettled(
      turn.map(({ submission, checked }) => keep(submission, checked)),
    )
    const outcomes = kept.map((one): Outcome | null =>
      one.status === 'rejected' ? { error: one.reason } : null,
    )
    let changed = NOTHING
    try {
      if (outcomes.includes(null)) changed = await this.#record(turn, outcomes)
    } catch (error) {
      // Nothing was recorded. What was refused may have been so for another one of the turn.
      for (const [at, one] of kept.entries())
        if (one.status === 'fulfilled') outcomes[at] = { error }
    }
    return { outcomes: outcomes as Outcome[], changed }
  }

  /** Records the releases that have no outcome yet; throws when none could be recorded. */
  async #record(turn: readonly Waiting[], outcomes: (Outcome | null)[]): Promise<Changed> {
    const { database } = this.#registry
    return database.transaction(async tx => {
      for (const [at, { submission, checked, change }] of turn.entries()) {
        if (outcomes[at]) continue
        const work = () => record(this.#registry, tx, submission, checked, change)
        // A lone refusal may undo the transaction.
        outcomes[at] = turn.length === 1 ? { value: await work() } : await attempt(tx, work)
        await pace()
      }
      const recorded = outcomes.flatMap(one => (one && 'value' in one ? [one.value.crate.id] : []))
      if (recorded.length === 0) return NOTHING
      // Read here, where what has just been written is in memory: a reader would read it again.
      const ids = [...new Set(recorded)]
      const files = await fileMarks(tx, ids)
      const crates: IndexedCrate[] = []
      for (const id of ids) {
        crates.push(...(await indexFiles(tx, [id])))
        await pace()
      }
      return { crates, files }
    })
  }

  /** Removes refused bytes after the turn's other publishes, which may have the same bytes. */
  async #reasonOf(error: unknown, checked: Checked): Promise<unknown> {
    try {
      await forgetRefused(this.#registry, checked, error)
      return error
    } catch (failure) {
      return failure
    }
  }

  /** Renders crates as `renderCrate` does; returns when each is rendered. */
  #render({ crates, files }: Changed): Map<number, Promise<void>> {
    const context = { ...this.#registry, tree: this.#registry.tree.within(this.#batch) }
    const render = async (crate: IndexedCrate) => {
      const own = files.filter(one => one.crateId === crate.id)
      const marks = await renderIndexed(context, crate, own)
      // Not in one line: `settle` may have taken the list meanwhile, without these files.
      this.#marks.push(...marks)
    }
    return new Map(crates.map(crate => [crate.id, render(crate)]))
  }
}
