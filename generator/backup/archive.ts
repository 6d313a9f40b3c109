import { pipeline } from 'node:stream/promises'
import { extract } from 'tar-stream'
import { refuse } from '../../core/error/error.ts'
import { BYTES_MAX, TEXT_MAX } from '../places/disk/files.ts'
import { DATABASE_FILE, SETTINGS_FILE } from '../registry/folder.ts'
import { LOST_FILE, TOP } from './backup.ts'

export const DAMAGED = 'its records are damaged'

const CRATE = /^crates\/(?:[a-z0-9_-]{1,2}\/){1,2}[a-z][a-z0-9_-]{0,63}\/[0-9a-f]{64}\.crate$/

/** The most bytes of the other files. */
const OTHERS = new Map([
  [SETTINGS_FILE, TEXT_MAX],
  [LOST_FILE, 64 * 1024 ** 2],
  [DATABASE_FILE, Number.POSITIVE_INFINITY],
])

/** The most bytes between two files of an archive, and behind the last one. */
const BETWEEN_MAX = 16 * 1024 ** 2

/**
 * Yields the files of a backup, whose first are the settings. Refuses any other file, a second one
 * of a name, what is larger than it can be, and bytes of no file, which may have no end.
 */
export async function* backupEntries(file: string, bytes: NodeJS.ReadableStream) {
  const archive = extract()
  const limit = { read: 0, most: BETWEEN_MAX }
  const reading = pipeline(bytes as AsyncIterable<Buffer>, part => upTo(part, limit), archive)
  // The loop below handles a failed read; this prevents an unhandled rejection until then.
  reading.catch(() => undefined)
  const seen = new Set<string>()
  for await (const entry of archive) {
    const { name: path, type, size = 0 } = entry.header
    const name = path.startsWith(`${TOP}/`) ? path.slice(TOP.length + 1) : ''
    const isFirst = seen.size === 0
    const isOwn = isFirst ? name === SETTINGS_FILE : OTHERS.has(name) || CRATE.test(name)
    if (type !== 'file' || seen.has(name) || !isOwn) refuse('backup_foreign', { file, entry: path })
    const max = OTHERS.get(name) ?? BYTES_MAX
    if (size > max) refuse('import_too_long', { what: `${path} in ${file}`, max })
    seen.add(name)
    limit.most = limit.read + size + BETWEEN_MAX
    const content = entry as AsyncIterable<Buffer>
    yield { name, bytes: name === DATABASE_FILE ? recordsOnly(content) : content }
  }
  await reading
}

async function* upTo(bytes: AsyncIterable<Buffer>, limit: { read: number; most: number }) {
  for await (const chunk of bytes) {
    limit.read += chunk.length
    if (limit.read > limit.most) throw new Error('more than 16 MiB of it are in no file')
    yield chunk
  }
}

const RECORDS_BEGIN = 'SQLite format 3\0'

/** Yields the bytes of records, and fails at the first that are none. */
async function* recordsOnly(bytes: AsyncIterable<Buffer>) {
  let isFirst = true
  for await (const chunk of bytes) {
    const begin = chunk.toString('latin1', 0, RECORDS_BEGIN.length)
    if (isFirst && !RECORDS_BEGIN.startsWith(begin)) throw new Error(DAMAGED)
    isFirst = false
    yield chunk
  }
}
