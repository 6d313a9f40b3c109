import { issue, Refusal } from '../../core/error/error.ts'

/** What an error code of the system or of SQLite says of the disk. */
const FAULTS = new Map([
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['SQLITE_FULL', 'storage_full'],
  ['EROFS', 'storage_readonly'],
  ['SQLITE_READONLY', 'storage_readonly'],
] as const)

/** Does work that writes; a full disk or a read-only file system becomes a refusal that says so. */
export async function writing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storageRefusal(error) ?? error
  }
}

/** What an error says of a disk that takes nothing more; null for any other. */
export function storageRefusal(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null
  const { code } = error as NodeJS.ErrnoException
  // Errors of libraries may carry numbers or anything else as their code.
  if (typeof code !== 'string') return null
  for (const [fault, kind] of FAULTS) {
    // SQLite has extended codes, such as SQLITE_READONLY_DBMOVED.
    if (code !== fault && !code.startsWith(`${fault}_`)) continue
    // Strangers read this too: Node's message names the path after the comma, the log has all of it.
    const reason = error.message.split(', ')[0] ?? ''
    return new Refusal([issue(kind, { reason })], { cause: error })
  }
  return null
}

/** Whether an error is such a refusal: nothing else can be written now, either. */
export function isStorageRefusal(error: unknown): boolean {
  return (
    error instanceof Refusal &&
    error.issues.some(one => one.code === 'storage_full' || one.code === 'storage_readonly')
  )
}
