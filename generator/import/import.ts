import { crateKey } from '../../core/paths/crates.ts'
import type { Progress } from '../build/build.ts'
import type { Registry } from '../registry.ts'
import type { Change } from '../store/catalog/change.ts'
import { importReleases, knownCrate } from '../store/catalog/import.ts'
import { releaseOfBytes } from '../store/catalog/releases.ts'
import { inParallel } from '../store/durable-file.ts'
import { ordered } from './ordered.ts'
import { type Outcome, prepareVersion, type Ready } from './prepare.ts'
import type { Source } from './source/source.ts'

/** `.crate` files that are fetched and inspected at once. */
const AT_ONCE = 6

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

type Results = readonly (Ready | Outcome)[]

/**
 * Imports what `source` has and reports what became of each version. What is already here costs one
 * query, so a killed import is simply repeated. The public tree follows with a build.
 */
export async function* importAll(
  registry: Registry,
  source: Source,
  job: ImportJob,
  progress?: Progress,
): AsyncGenerator<Outcome> {
  const batch = new ImportBatch(registry, job)
  const prepared = ordered(tasks(registry, source, progress), AT_ONCE, task => task(), discard)
  try {
    for await (const results of prepared) {
      for (const result of results) {
        if ('outcome' in result) yield result
        else batch.put(result)
      }
      if (batch.isFull) yield* await batch.unload()
    }
    yield* await batch.unload()
  } finally {
    await batch.discard()
  }
}

/** What is to be done for each version of the source, and for each part of it that is none. */
async function* tasks(
  registry: Registry,
  source: Source,
  progress?: Progress,
): AsyncGenerator<() => Promise<Results>> {
  const own = new Set([...registry.urls.own, ...source.ownUrls])
  let done = 0
  for await (const { name, versions, refused } of source.crates()) {
    for (const one of refused) yield async () => [{ outcome: 'refused', ...one }]
    const known = name === null ? null : await knownCrate(registry.database, name)
    for (const candidates of versions) yield () => prepareVersion(registry, candidates, known, own)
    done++
    progress?.(done, source.total)
  }
}

async function discard(results: Results): Promise<void> {
  for (const result of results) if ('bytes' in result) await result.bytes.discard()
}

/** Releases that are imported together, with one flush of the database. */
class ImportBatch {
  readonly #registry: Registry
  readonly #job: ImportJob
  #waiting: Ready[] = []
  #text = 0

  constructor(registry: Registry, job: ImportJob) {
    this.#registry = registry
    this.#job = job
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
    await discard(this.#waiting.splice(0))
  }

  async #land(batch: readonly Ready[]): Promise<Outcome[]> {
    const { crates, database } = this.#registry
    await inParallel(batch, ({ release, bytes }) => bytes.keep(crateKey(release.name, bytes.cksum)))
    const releases = batch.map(one => one.release)
    const landings = await importReleases(database, releases, this.#job.change, this.#job)
    const outcomes: Outcome[] = []
    for (const [at, { where, release, bytes, notes }] of batch.entries()) {
      const landing = landings[at]
      if (!landing) throw new Error('a release without an outcome')
      const { outcome } = landing
      const { name, version } = release
      if (outcome === 'refused' && !(await releaseOfBytes(database, bytes.cksum)))
        await crates.remove(crateKey(name, bytes.cksum))
      const issues = outcome === 'refused' ? landing.issues : notes
      outcomes.push({ outcome, where, name, version, issues })
    }
    return outcomes
  }
}
