import { Refusal } from '../../core/error/error.ts'
import { Mutex } from '../../core/mutex.ts'
import { renderCrate } from '../build/crate.ts'
import type { Registry } from '../registry.ts'
import type { Change } from '../store/catalog/change.ts'
import type { CrateRecord } from '../store/catalog/crates.ts'
import { clearMarks, type Mark } from '../store/catalog/marks.ts'
import type { Added } from '../store/catalog/release-changes.ts'
import { SyncBatch } from '../store/sync-batch.ts'
import {
  type Acceptance,
  acceptance,
  type Checked,
  check,
  forget,
  type Submission,
  store,
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

/** The result of a publish, or the error of one that was refused or failed. */
type Outcome = { readonly added: Added } | { readonly error: unknown }

/**
 * Publishes releases as `addSubmission` adds them, and renders their crates. Concurrent publishes
 * share a turn of the process mutex and its syncs. Rendered files need not be on disk before the
 * response: their marks stay until `settle`, and after a crash the next build renders them again.
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
    this.#batch = new SyncBatch(registry.tree.root)
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
    const outcomes = await Promise.all(turn.map(one => this.#store(one)))
    const crates = new Map<number, CrateRecord>()
    for (const outcome of outcomes) {
      if ('error' in outcome) continue
      const { crate } = outcome.added
      if ((crates.get(crate.id)?.generation ?? -1) < crate.generation) crates.set(crate.id, crate)
    }
    const renders = new Map([...crates].map(([id, crate]) => [id, this.#render(crate)]))
    for (const [at, { checked, resolve, reject }] of turn.entries()) {
      const outcome = outcomes[at] as Outcome
      if ('error' in outcome) reject(await this.#reasonOf(outcome.error, checked))
      else {
        const rendered = renders.get(outcome.added.crate.id) as Promise<void>
        resolve({ ...acceptance(checked, outcome.added), rendered })
      }
    }
    await Promise.allSettled(renders.values())
  }

  async #store({ submission, checked, change }: Waiting): Promise<Outcome> {
    try {
      return { added: await store(this.#registry, submission, checked, change) }
    } catch (error) {
      return { error }
    }
  }

  /** Removes refused bytes after the turn's other publishes, which may have the same bytes. */
  async #reasonOf(error: unknown, checked: Checked): Promise<unknown> {
    try {
      if (error instanceof Refusal) await forget(this.#registry, checked)
      return error
    } catch (failure) {
      return failure
    }
  }

  async #render(crate: CrateRecord): Promise<void> {
    const tree = this.#registry.tree.within(this.#batch)
    this.#marks.push(...(await renderCrate({ ...this.#registry, tree }, crate)))
  }
}
