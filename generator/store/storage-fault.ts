import { issue, Refusal } from '../../core/error/error.ts'

/** The issue that an error code of the system or of SQLite stands for. */
const FAULTS = new Map([
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['SQLITE_FULL', 'storage_full'],
  ['EROFS', 'storage_readonly'],
  ['SQLITE_READONLY', 'storage_readonly'],
] as const)

/** Runs work that writes; turns the error of a full or read-only disk into a `Refusal`. */
export async function writing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storageRefusal(error) ?? error
  }
}

/** Returns the `Refusal` for an error of a full or read-only disk; null for any other error. */
export function storageRefusal(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null
  const { code } = error as NodeJS.ErrnoException
  // Errors of libraries may have numbers or anything else as their code.
  if (typeof code !== 'string') return null
  for (const [fault, kind] of FAULTS) {
    // SQLite has extended codes, such as SQLITE_READONLY_DBMOVED.
    if (code !== fault && !code.startsWith(`${fault}_`)) continue
    // Clients see this too: leave the path, after the comma of Node's message, to the log.
    const reason = error.message.split(', ')[0] ?? ''
    return new Refusal([issue(kind, { reason })], { cause: error })
  }
  return null
}

/** Returns whether an error is a refusal of `storageRefusal`: other writes will fail, too. */
export function isStorageRefusal(error: unknown): boolean {
  return (
    error instanceof Refusal &&
    error.issues.some(one => one.code === 'storage_full' || one.code === 'storage_readonly')
  )
}
