import { issue, Refusal } from '../../../core/error/error.ts'

/** The issue of error codes, of the system or of SQLite, that stop every write. */
const FAULTS = new Map<string, 'storage_full' | 'storage_readonly'>([
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['SQLITE_FULL', 'storage_full'],
  ['EROFS', 'storage_readonly'],
  ['SQLITE_READONLY', 'storage_readonly'],
])

type SystemCode =
  | 'access_denied'
  | 'database_damaged'
  | 'database_locked'
  | 'database_unusable'
  | 'files_exhausted'
  | 'storage_failing'
  | 'system_refuses'
  | 'threads_exhausted'

/** The issue of every other error that the machine is the reason for; any other error is a bug. */
const OF_THE_SYSTEM = new Map<string, SystemCode>([
  ['EIO', 'storage_failing'],
  ['SQLITE_IOERR', 'storage_failing'],
  ['EMFILE', 'files_exhausted'],
  ['ENFILE', 'files_exhausted'],
  ['EAGAIN', 'threads_exhausted'],
  ['EACCES', 'access_denied'],
  ['EPERM', 'access_denied'],
  ['SQLITE_BUSY', 'database_locked'],
  ['SQLITE_LOCKED', 'database_locked'],
  ['SQLITE_CORRUPT', 'database_damaged'],
  ['SQLITE_NOTADB', 'database_damaged'],
  ['SQLITE_CANTOPEN', 'database_unusable'],
  ...'EEXIST EFBIG EISDIR ELOOP ENAMETOOLONG ENOTDIR ENOTEMPTY EPIPE'
    .split(' ')
    .map(code => [code, 'system_refuses'] as const),
])

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
  const kind = FAULTS.get(codeOf(error))
  return kind ? new Refusal([issue(kind, { reason: reasonOf(error) })], { cause: error }) : null
}

/**
 * Returns the `Refusal` for an error of the system or of the database file, not of this program;
 * null for any other error. Only operators are shown paths, and errors without a message of ours.
 */
export function systemRefusal(error: unknown, reader: 'operator' | 'client'): Refusal | null {
  const kind = OF_THE_SYSTEM.get(codeOf(error))
  if (!kind) return storageRefusal(error)
  // Clients get the id by which the log has the error: it says nothing that they could mend.
  if (kind === 'system_refuses' && reader === 'client') return null
  const { message: text, path } = error as NodeJS.ErrnoException
  // The stack of a worker thread may follow.
  const [message = ''] = text.split('\n')
  const where = path === undefined || message.includes(path) ? '' : ` (${path})`
  const reason = reader === 'client' ? reasonOf(error) : `${message}${where}`
  return new Refusal([issue(kind, { reason })], { cause: error })
}

/** Returns the refusal of a change of which nobody knows whether it was made, as `what` failed. */
export function unknownOutcome(what: string, error: unknown): Refusal {
  const reason = `${what} (${error instanceof Error ? reasonOf(error) : error})`
  return new Refusal([issue('commit_unknown', { reason })], { cause: error })
}

/** Returns whether nobody knows if the change was made that failed with this error. */
export function isUnknownOutcome(error: unknown): boolean {
  return error instanceof Refusal && error.has('commit_unknown')
}

/** Returns whether a change may have been made, of which not all is shown. */
export function mayBeUnshown(error: unknown): boolean {
  return isUnknownOutcome(error) || (error instanceof Refusal && error.has('storage_behind'))
}

/** The codes of refusals that say that nothing was changed, or that nobody knows. */
const UNDONE = /^(?:storage_(?!failing)|database_(?:away|slow|conflict)|registry_|commit_)/

/** Runs what comes after a change was recorded: no failure of it says that it was not made. */
export async function showing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const refusal = error instanceof Refusal ? error : systemRefusal(error, 'operator')
    if (!refusal?.issues.some(({ code }) => UNDONE.test(code))) throw error
    const said = isUnknownOutcome(refusal) ? reasonOf(refusal.cause) : refusal.message
    const [reason = ''] = said.split('; ')
    throw new Refusal([issue('storage_behind', { reason })], { cause: error })
  }
}

/** Returns the code of an error, without SQLite's extensions such as SQLITE_READONLY_DBMOVED. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  const { code, message, syscall } = error as NodeJS.ErrnoException
  // This is how a recursive mkdir of Node.js reports a disk that takes no writes.
  if (code === 'ENOENT' && syscall === 'mkdir') return 'EROFS'
  // What a worker thread throws, or one that cannot start, has no code of its own.
  const inner = /\bE(?:[MN]FILE|AGAIN|IO(?=: ))\b/.exec(message)?.[0]
  if (inner) return inner
  // libsql has no name for some; the lowest byte is the kind of them, 10 for failed calls.
  const number = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(String(code))?.[1]
  if (number !== undefined && (Number(number) & 0xff) === 10) return 'SQLITE_IOERR'
  // Errors of libraries may have numbers or anything else as their code.
  return typeof code === 'string' ? (/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code) : ''
}

/** Clients see this: leaves the path, after the comma of Node's message, to the log. */
function reasonOf(error: unknown): string {
  return (error as Error).message.split(/, |\n/)[0] ?? ''
}

/** The codes of refusals after which other writes will fail, too. */
const OF_STORAGE = new Set<string>([
  'storage_full',
  'storage_readonly',
  'storage_server_full',
  'bucket_unreachable',
  'bucket_foreign',
  'bucket_refuses',
  'bucket_keys_missing',
  'bucket_client_unusable',
  'database_away',
  'database_denied',
  'registry_moved',
  'registry_paused',
])

/** Returns whether an error says that the disk, bucket or database takes no writes at all. */
export function isStorageRefusal(error: unknown): boolean {
  return error instanceof Refusal && error.issues.some(({ code }) => OF_STORAGE.has(code))
}

/** Returns whether an error says that a bucket cannot be written, or refuses a file. */
export function isBucketRefusal(error: unknown): boolean {
  const isOfBucket = (code: string) => code.startsWith('bucket_') || code === 'file_refused'
  return error instanceof Refusal && error.issues.every(({ code }) => isOfBucket(code))
}
