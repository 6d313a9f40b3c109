import { issue, Refusal } from '../../core/error/error.ts'
import { storageRefusal } from '../store/storage-fault.ts'

/** Error codes of disks, permissions and misplaced files; any other system error is our bug. */
const OF_THE_SYSTEM = new Set(
  'EACCES EDQUOT EEXIST EFBIG EIO EISDIR ELOOP EMFILE ENFILE ENOSPC ENOTDIR EPERM EROFS'.split(' '),
)

/** The same, and damage, as SQLite says it; its other errors are about our own statements. */
const OF_THE_DATABASE = /^SQLITE_(?:BUSY|CANTOPEN|CORRUPT|FULL|IOERR|NOTADB|READONLY)/

/** The refusal for an error caused by the machine and not by this program; null for any other. */
export function machineRefusal(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null
  const storage = storageRefusal(error)
  if (storage) return storage
  const { code, path } = error as NodeJS.ErrnoException
  if (typeof code !== 'string') return null
  if (OF_THE_DATABASE.test(code)) {
    return new Refusal([issue('database_unusable', { reason: error.message })], { cause: error })
  }
  if (!OF_THE_SYSTEM.has(code)) return null
  const where = path === undefined || error.message.includes(path) ? '' : ` (${path})`
  return new Refusal([issue('system_refuses', { reason: `${error.message}${where}` })], {
    cause: error,
  })
}
