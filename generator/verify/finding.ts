import { isStorageRefusal } from '../places/disk/fault.ts'
import type { Progress } from '../projections/context.ts'

export interface Finding {
  readonly where: string
  readonly what: string
  /** Whether nothing in this registry can restore it; `what` names the source that can. */
  readonly lost: boolean
  readonly repaired: boolean
}

export interface VerifyOptions {
  readonly repair: boolean
  /** Whether a daemon is running: it renders pending marks, so a repair leaves them to it. */
  readonly served: boolean
  /** Called with the number of outputs that only wait to be rendered; these are no findings. */
  readonly onPending?: (outputs: number) => void
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

/** Returns outputs that differ; those with a mark only if a repair renders them now. */
export function unlessPending(
  findings: readonly Finding[],
  isPending: boolean,
  { repair, served, onPending }: VerifyOptions,
): Finding[] {
  if (!isPending) return [...findings]
  if (repair && !served)
    return findings.map(finding => ({ ...finding, what: 'was still to be rendered' }))
  onPending?.(findings.length)
  return []
}

/** Returns a finding about something that can be derived again. */
export function derivable(where: string, what: string, repaired = false): Finding {
  return { where, what, lost: false, repaired }
}
