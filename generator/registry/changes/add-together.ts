import { forEachConcurrently } from '../../../core/async/concurrently.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import type { Release } from '../../../core/release/release.ts'
import { pace } from '../../database/pace.ts'
import { attempt, type Queries } from '../../database/statement.ts'
import type { Staged } from '../../places/crate-store.ts'
import type { Registry } from '../registry.ts'
import { removeRefused } from './another-writer.ts'

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
