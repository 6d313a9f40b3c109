import { Refusal } from '../../../core/error/error.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import type { Release } from '../../../core/release/release.ts'
import { isBucketRefusal, isUnknownOutcome } from '../../places/disk/fault.ts'
import { releaseOfBytes } from '../../records/releases-stored.ts'
import type { Registry } from '../registry.ts'

type Shared = Pick<Registry, 'database' | 'mutex'>

/**
 * Runs `work` on bytes of the crate store; returns null if a release has them. Bytes and record of
 * a release are stored in one turn of the mutex, so that none is mistaken for an orphan.
 */
export function withoutRelease<T>(
  shared: Shared,
  cksum: string,
  work: () => Promise<T>,
): Promise<T | null> {
  return shared.mutex.run(() => unlessReleased(shared, cksum, work))
}

/** The same in a turn; a writer that has lost its turn leaves what another may be recording. */
async function unlessReleased<T>(
  { database, mutex }: Shared,
  cksum: string,
  work: () => Promise<T>,
): Promise<T | null> {
  if (await releaseOfBytes(database, cksum)) return null
  return (await mutex.isHeld()) ? work() : null
}

/**
 * Removes the bytes of a release that was refused, unless another release has them; the caller
 * holds the mutex. Returns the error to answer with: why it was refused, or why its bytes could not
 * be removed.
 */
export async function removeRefused(
  { crates, ...shared }: Registry,
  { name, entry: { cksum } }: Release,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Refusal)) return error
  // Where records were moved, the new ones may have a release of these bytes in the same store; a
  // commit whose outcome nobody knows may still be made.
  if (error.has('registry_moved') || isUnknownOutcome(error)) return error
  // Its bytes block nobody, and Cargo would not wait for it a second time.
  if (isBucketRefusal(error)) return error
  try {
    await unlessReleased(shared, cksum, () => crates.remove(crateKey(name, cksum)))
    return error
  } catch (failure) {
    return failure
  }
}
