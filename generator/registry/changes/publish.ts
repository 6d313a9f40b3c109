// generator/registry/changes: The changes of a registry: check, keep, record, show. Daemon and
// commands call it; it renders no page.
import { forEachConcurrently } from '../../../core/async/concurrently.ts'
import { type Issue, unique, warning } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import type { Release } from '../../../core/release/release.ts'
import type { Version } from '../../../core/version.ts'
import { pace } from '../../database/pace.ts'
import { attempt, type Queries } from '../../database/statement.ts'
import type { Staged } from '../../places/crate-store.ts'
import { disk } from '../../places/disk/disk.ts'
import { showCrates } from '../../projections/index/show.ts'
import { RenderBatch } from '../../projections/render-batch.ts'
import { matchesOf } from '../../records/advisories/change.ts'
import type { Change } from '../../records/change.ts'
import type { Told } from '../../records/crate-change.ts'
import type { CrateRecord } from '../../records/crates.ts'
import { type MarkSubject, marksOf, setMarks } from '../../records/marks.ts'
import { type IndexedCrate, indexFiles } from '../../records/releases.ts'
import { followReleases, insertAdded, type ReleaseOutcome } from '../../records/releases-changes.ts'
import { checkQuota } from '../../records/releases-stored.ts'
import { sandbox } from '../../sandbox/sandbox.ts'
import type { Registry } from '../registry.ts'
import { removeRefused } from './another-writer.ts'
import { type Candidate, check, type Submission } from './check.ts'

/** A recorded release, with everything that its publisher should know. */
export interface Publication {
  readonly release: Release
  readonly outcome: 'added' | 'present'
  readonly crate: CrateRecord
  readonly warnings: readonly Issue[]
  readonly invalidCategories: readonly string[]
  readonly invalidBadges: readonly string[]
  /** Settles when its index file is written, or rejects; it is shown again then. */
  readonly shown: Promise<void>
}

/** The most publishes of one batch: the first of them waits for the last. */
const BATCH_MAX = 64

interface Waiting {
  readonly candidate: Candidate
  readonly resolve: (publication: Publication) => void
  readonly reject: (error: unknown) => void
}

/**
 * The path of every change of the index, in an order that survives a crash: check, keep the bytes,
 * record in one transaction, show. Publishes that meet share a turn of the process mutex, its
 * transaction and its syncs.
 */
export class PublishQueue {
  readonly #registry: Registry
  readonly #batch: RenderBatch
  readonly #waiting: Waiting[] = []
  #isRunning = false

  constructor(registry: Registry) {
    this.#registry = registry
    this.#batch = new RenderBatch(registry)
  }

  /** Resolves when the release is recorded; throws a `Refusal` with every issue. */
  async publish(submission: Submission, change: Change): Promise<Publication> {
    const candidate = await check(this.#registry, submission, change)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ candidate, resolve, reject })
      if (!this.#isRunning) void this.#run()
    })
  }

  /** Shows a crate whose records have changed otherwise. */
  show(crateId: number): Promise<void> {
    return this.#registry.mutex.run(async () => {
      const changed = await indexFiles(this.#registry.database, [crateId])
      throwIf(await this.#show(changed), crateId)
    })
  }

  /** Syncs what is shown to disk, and clears its marks. */
  settle(): Promise<void> {
    return this.#batch.settle()
  }

  /** Returns why some crates could not be shown, by crate. */
  async #show(crates: readonly IndexedCrate[]): Promise<ReadonlyMap<number, unknown>> {
    const context = { ...this.#registry, tree: this.#batch.tree }
    const { done, failed } = await showCrates(context, crates)
    this.#batch.add(done)
    return new Map(Array.from(failed, ([{ subject }, error]) => [subject, error]))
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      try {
        await this.#registry.mutex.run(() => this.#publishBatch(this.#waiting.splice(0, BATCH_MAX)))
      } catch (error) {
        // Taking the mutex failed.
        for (const { reject } of this.#waiting.splice(0)) reject(error)
      }
    }
    this.#isRunning = false
  }

  async #publishBatch(waiting: readonly Waiting[]): Promise<void> {
    const { outcomes, finished } = await addTogether(
      this.#registry,
      waiting.map(({ candidate }) => additionOf(this.#registry, candidate)),
      async (tx, publications) => {
        await followReleases(tx, this.#registry.followers, publications)
        const changed: IndexedCrate[] = []
        // Read here, where the new rows are in memory: a reader would read them again.
        for (const id of new Set(publications.map(({ crate }) => crate.id))) {
          changed.push(...(await indexFiles(tx, [id])))
          await pace()
        }
        return changed
      },
    )
    const showing = this.#show(finished.flat())
    for (const [at, { resolve, reject }] of waiting.entries()) {
      const outcome = outcomes[at]
      if (!outcome || 'error' in outcome) reject(outcome?.error)
      else {
        const { id } = outcome.value.crate
        const shown = showing.then(failures => throwIf(failures, id))
        // Not everybody waits for it.
        shown.catch(() => undefined)
        resolve({ ...outcome.value, shown })
      }
    }
    await showing.catch(() => undefined)
  }
}

function throwIf(failures: ReadonlyMap<number, unknown>, id: number): void {
  if (failures.has(id)) throw failures.get(id)
}

/** A recorded release before it is shown. */
export type UnshownPublication = Omit<Publication, 'shown'> & ReleaseOutcome

/** Begins the threads that a publish needs, unless they run: both while its body arrives. */
export function prepareThreads(): void {
  sandbox.prepare()
  disk.prepare()
}

/** Returns what records a candidate whose bytes are kept; an equal release is `present`. */
export function additionOf(registry: Registry, candidate: Candidate): Addition<UnshownPublication> {
  const { release, submission } = candidate
  return { release, bytes: submission.bytes, record: tx => record(registry, tx, candidate) }
}

async function record(
  { settings, urls }: Registry,
  tx: Queries,
  { submission, change, release, existing, isLost, verdict, warnings }: Candidate,
): Promise<UnshownPublication> {
  const matched: Told[] = []
  const added = await insertAdded(tx, release, change, async (within, crate) => {
    await checkQuota(within, crate, settings.limits, change)
    await submission.permit?.(within, crate)
    if (crate.hasAdvisories) matched.push(...(await matchesOf(within, release, urls.own)))
  })
  if (isLost && existing.taken)
    await setMarks(tx, marksOfBytes(existing.taken.id), added.crate.generation)
  const { name, version } = release
  const present = added.outcome === 'present' ? [presentWarning(isLost, name, version)] : []
  const all = unique([...warnings, ...present])
  const { invalidCategories, invalidBadges } = verdict
  const edit = added.edit && { ...added.edit, told: [...(added.edit.told ?? []), ...matched] }
  return { release, ...added, edit, warnings: all, invalidCategories, invalidBadges }
}

/**
 * Returns the marks of a release whose bytes come back: its file in the public tree may be lost,
 * too, and its pages were rendered without the bytes.
 */
export function marksOfBytes(id: number): MarkSubject[] {
  return ['file', 'release'].flatMap(kind => marksOf(kind, [id]))
}

/** Returns what is told of a release that was recorded before; `isLost`: its bytes are put back. */
export function presentWarning(isLost: boolean, name: Name, version: Version): Issue {
  return warning(isLost ? 'release_restored' : 'release_present', { name, version })
}

/** A release with its bytes, and what records it in a transaction. */
export interface Addition<T> {
  readonly release: Release
  readonly bytes: Staged
  readonly record: (tx: Queries) => Promise<T>
}

/** The result of recording a release, or why it was refused or failed. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown }

/** The results of releases in their order, and what `complete` returned. */
export interface Additions<T, F> {
  readonly outcomes: readonly Outcome<T>[]
  readonly finished: readonly F[]
}

/**
 * Adds releases: keeps the bytes of all, records all in one transaction, and removes the bytes of
 * those that were refused. `complete` ends the transaction: it tells the followers. One that is
 * refused or fails undoes nothing of the others. The caller holds the mutex, because `verify` would
 * find orphans in between; a process that is killed before the transaction has added nothing, and
 * leaves bytes that block nobody.
 */
export async function addTogether<T, F>(
  registry: Registry,
  additions: readonly Addition<T>[],
  complete: (tx: Queries, values: readonly T[]) => Promise<F>,
): Promise<Additions<T, F>> {
  const outcomes = new Map<Addition<T>, Outcome<T>>()
  const finished: F[] = []
  await forEachConcurrently(additions, async addition => {
    const { release, bytes } = addition
    await bytes
      .keep(crateKey(release.name, release.entry.cksum))
      .catch((error: unknown) => outcomes.set(addition, { error }))
  })
  const record = async (additions: readonly Addition<T>[]): Promise<void> => {
    let isComplete = true
    try {
      const end = await registry.database.transaction(async tx => {
        const values = await recordAll(tx, additions, outcomes)
        isComplete = false
        const end = await complete(tx, values)
        isComplete = true
        return end
      })
      finished.push(end)
    } catch (error) {
      // Nothing was recorded. If a follower fails at one crate, the others are tried without it.
      if (!isComplete && additions.length > 1)
        for (const addition of additions) await record([addition])
      // A refusal may have been caused by another publish of this batch.
      else for (const addition of additions) outcomes.set(addition, { error })
    }
  }
  const kept = additions.filter(addition => !outcomes.has(addition))
  if (kept.length > 0) await record(kept)
  const results: Outcome<T>[] = []
  for (const addition of additions) {
    const outcome = outcomes.get(addition) as Outcome<T>
    if ('value' in outcome) results.push(outcome)
    else results.push({ error: await removeRefused(registry, addition.release, outcome.error) })
  }
  return { outcomes: results, finished }
}

async function recordAll<T>(
  tx: Queries,
  additions: readonly Addition<T>[],
  outcomes: Map<Addition<T>, Outcome<T>>,
): Promise<T[]> {
  const values: T[] = []
  for (const addition of additions) {
    const work = () => addition.record(tx)
    // A lone refusal may undo the transaction.
    const outcome = additions.length === 1 ? { value: await work() } : await attempt(tx, work)
    outcomes.set(addition, outcome)
    if ('value' in outcome) values.push(outcome.value)
    await pace()
  }
  return values
}
