import { crateKey } from '../../core/paths/crates.ts'
import type { Registry } from '../registry.ts'
import type { Change } from '../store/catalog/change.ts'
import { importReleases } from '../store/catalog/import.ts'
import { releaseOfBytes } from '../store/catalog/releases.ts'
import { inParallel } from '../store/durable-file.ts'
import type { Outcome, Ready } from './prepare.ts'

/** Most releases, and characters of lines and readmes, of one transaction. */
const RELEASES_MAX = 100
const TEXT_MAX = 16 * 1024 * 1024

/** Who imports from where. */
export interface ImportJob {
  readonly change: Change
  /** Of the source, for the audit. */
  readonly source: string
  /** The user who becomes the owner of crates that have none. */
  readonly owner: number | null
}

/** Releases that are imported together, with one flush of the database. */
export class ImportBatch {
  readonly #registry: Registry
  readonly #orders: ImportJob
  #waiting: Ready[] = []
  #text = 0

  constructor(registry: Registry, orders: ImportJob) {
    this.#registry = registry
    this.#orders = orders
  }

  /** Whether it is time to unload. */
  get isFull(): boolean {
    return this.#waiting.length >= RELEASES_MAX || this.#text >= TEXT_MAX
  }

  put(ready: Ready): void {
    this.#waiting.push(ready)
    this.#text += (ready.release.readme?.length ?? 0) + 1000 * ready.release.entry.deps.length
  }

  /**
   * Stores the bytes, then the records in one transaction, all under the mutex, so that no repair
   * sees orphan bytes. After a kill in between, the next attempt finds the bytes.
   */
  async unload(): Promise<Outcome[]> {
    const batch = this.#waiting.splice(0)
    this.#text = 0
    if (batch.length === 0) return []
    return this.#registry.mutex.run(() => this.#land(batch))
  }

  /** Forgets what waits. */
  async discard(): Promise<void> {
    for (const { bytes } of this.#waiting.splice(0)) await bytes.discard()
  }

  async #land(batch: readonly Ready[]): Promise<Outcome[]> {
    const { crates, database } = this.#registry
    await inParallel(batch, ({ release, bytes }) => bytes.keep(crateKey(release.name, bytes.cksum)))
    const releases = batch.map(one => one.release)
    const landings = await importReleases(database, releases, this.#orders.change, this.#orders)
    const outcomes: Outcome[] = []
    for (const [at, { where, release, bytes, notes }] of batch.entries()) {
      const landing = landings[at]
      if (!landing) throw new Error('a release without an outcome')
      const { outcome } = landing
      const issues = landing.outcome === 'refused' ? landing.issues : notes
      if (outcome === 'refused' && !(await releaseOfBytes(database, bytes.cksum))) {
        await crates.remove(crateKey(release.name, bytes.cksum))
      }
      outcomes.push({ outcome, where, name: release.name, version: release.version, issues })
    }
    return outcomes
  }
}
