// generator/registry/changes: The changes of a registry: check, keep, record, show. Daemon and
// commands call it; it renders no page.
import { type Issue, refuse, unique, warning } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import type { Release } from '../../../core/release/release.ts'
import type { Version } from '../../../core/version.ts'
import { pace } from '../../database/pace.ts'
import type { Queries } from '../../database/statement.ts'
import type { Staged } from '../../places/crate-store.ts'
import { asCaller } from '../../places/disk/caller.ts'
import { showing } from '../../places/disk/fault.ts'
import { fileChecksum, openFile } from '../../places/disk/files.ts'
import { showCrates } from '../../projections/index/show.ts'
import { RenderBatch } from '../../projections/render-batch.ts'
import { type Change, operatorChange } from '../../records/change.ts'
import type { CrateRecord } from '../../records/crates.ts'
import { type MarkSubject, markAgain, marksOf, setMarks } from '../../records/marks.ts'
import { type IndexedCrate, indexFiles } from '../../records/releases.ts'
import { followReleases, insertAdded, type ReleaseOutcome } from '../../records/releases-changes.ts'
import { checkQuota, type ReleaseOfBytes, releaseOfBytes } from '../../records/releases-stored.ts'
import type { Registry } from '../registry.ts'
import { type Addition, addTogether } from './add-together.ts'
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

/** Returns what records a candidate whose bytes are kept; an equal release is `present`. */
export function additionOf(registry: Registry, candidate: Candidate): Addition<UnshownPublication> {
  const { release, submission } = candidate
  return { release, bytes: submission.bytes, record: tx => record(registry, tx, candidate) }
}

async function record(
  { settings }: Registry,
  tx: Queries,
  { submission, change, release, existing, isLost, verdict, warnings }: Candidate,
): Promise<UnshownPublication> {
  const added = await insertAdded(tx, release, change, async (within, crate) => {
    await checkQuota(within, crate, settings.limits, change)
    await submission.permit?.(within, crate)
  })
  if (isLost && existing.taken)
    await setMarks(tx, marksOfBytes(existing.taken.id), added.crate.generation)
  const { name, version } = release
  const present = added.outcome === 'present' ? [presentWarning(isLost, name, version)] : []
  const all = unique([...warnings, ...present])
  const { invalidCategories, invalidBadges } = verdict
  return { release, ...added, warnings: all, invalidCategories, invalidBadges }
}

interface AddedRelease {
  readonly release: Pick<Release, 'name' | 'version'>
}

/** The largest `.crate` that an import may have recorded, in bytes. */
const RECORDED_MAX = 512 * 1024 * 1024

/**
 * Adds a `.crate` file with the checks of a publish, and renders its index file. `at` is the time
 * for the index (`2026-11-20T12:00:00Z`). Throws a `Refusal` with every issue. `buildPages` then
 * renders the pages. Bytes of a recorded release are put back without checks, and whatever has
 * become of it: it may be yanked, or have been imported.
 */
export async function addCrateFile(
  registry: Registry,
  path: string,
  { at, companions }: { readonly at: string } & Pick<Submission, 'companions'>,
): Promise<Pick<Publication, 'outcome' | 'warnings'> & AddedRelease> {
  const file = (await asCaller(() => openFile(path))) ?? refuse('file_missing', { path })
  const cksum = file.size > RECORDED_MAX ? null : await asCaller(() => fileChecksum(path))
  const published = cksum === null ? null : await releaseOfBytes(registry.database, cksum)
  const max = published ? RECORDED_MAX : registry.settings.limits.crate_bytes
  const bytes = await registry.crates.stage(file.bytes, max)
  try {
    const queue = new PublishQueue(registry)
    if (published?.cksum === bytes.cksum) return await putBack(registry, queue, bytes, published)
    const submission = { bytes, pubtime: at, ...(companions && { companions }) }
    const publication = await queue.publish(submission, operatorChange(at))
    await showing(async () => {
      await publication.shown
      await queue.settle()
    })
    return publication
  } finally {
    await bytes.discard()
  }
}

async function putBack(
  { crates, database, mutex }: Registry,
  queue: PublishQueue,
  bytes: Staged,
  { id, crateId, name, version, cksum }: ReleaseOfBytes,
) {
  const key = crateKey(name, cksum)
  const isLost = (await crates.checksum(key)) !== cksum
  if (isLost)
    await mutex.run(async () => {
      await bytes.keep(key)
      await markAgain(database, marksOfBytes(id))
    })
  await showing(async () => {
    await queue.show(crateId)
    await queue.settle()
  })
  return {
    release: { name, version },
    outcome: 'present',
    warnings: [presentWarning(isLost, name, version)],
  } as const
}

/** Its file in the public tree may be lost, too, and its pages were rendered without the bytes. */
function marksOfBytes(id: number): MarkSubject[] {
  return ['file', 'release'].flatMap(kind => marksOf(kind, [id]))
}

function presentWarning(isLost: boolean, name: Name, version: Version): Issue {
  return warning(isLost ? 'release_restored' : 'release_present', { name, version })
}
