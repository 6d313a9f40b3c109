import type { Progress } from '../build/build.ts'
import { isStorageRefusal } from '../store/storage-fault.ts'

/** A difference between two things that should agree. */
export interface Finding {
  readonly where: string
  readonly what: string
  /** Whether nothing in this registry can restore it: only a backup can. */
  readonly lost: boolean
  readonly repaired: boolean
}

/** How a verification runs. */
export interface VerifyOptions {
  /** Whether to repair what can be derived. */
  readonly repair: boolean
  /** Whether a daemon is running: it renders what is marked as pending, so that is no finding. */
  readonly served: boolean
  /** Called after each crate. */
  readonly progress?: Progress
}

/** Errors of a disk or a database, which concern everything. */
const OF_THE_MACHINE = /^(?:ENOSPC|EDQUOT|EROFS|SQLITE)/

/** The findings about one thing. If it cannot be read, that is a finding, and the rest goes on. */
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

/** A finding about something that only a backup can restore. */
export function lost(where: string, what: string): Finding {
  return { where, what, lost: true, repaired: false }
}

/** A finding about something that can be derived again. */
export function derivable(where: string, what: string, repaired = false): Finding {
  return { where, what, lost: false, repaired }
}
