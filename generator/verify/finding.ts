import type { Progress } from '../build/build.ts'
import { isStorageRefusal } from '../store/storage-fault.ts'

/** A difference between two things that should agree. */
export interface Finding {
  readonly where: string
  readonly what: string
  /** Whether only a backup can restore it, nothing in this registry. */
  readonly lost: boolean
  readonly repaired: boolean
}

/** The options of a verification. */
export interface VerifyOptions {
  /** Whether to repair data that can be derived. */
  readonly repair: boolean
  /** Whether a daemon is running: it renders pending changes, so they are no finding. */
  readonly served: boolean
  /** Called after each crate. */
  readonly progress?: Progress
}

/** Errors of the disk or the database, which affect everything. */
const OF_THE_MACHINE = /^(?:ENOSPC|EDQUOT|EROFS|SQLITE)/

/** Yields the findings about one thing. If it cannot be read, yields that and goes on. */
export async function* findingsAbout(
  where: string,
  find: () => AsyncIterable<Finding> | Promise<Finding[]>,
): AsyncIterable<Finding> {
  try {
    yield* await find()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (!(error instanceof Error) || OF_THE_MACHINE.test(code) || isStorageRefusal(error))
      throw error
    yield derivable(where, `cannot be verified: ${message}`)
  }
}

/** Returns a finding about something that only a backup can restore. */
export function lost(where: string, what: string): Finding {
  return { where, what, lost: true, repaired: false }
}

/** Returns a finding about something that can be derived again. */
export function derivable(where: string, what: string, repaired = false): Finding {
  return { where, what, lost: false, repaired }
}
