// generator/backup: Writes a registry to one file and reads it back. Two commands call it; it never
// stops the daemon.
import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Pack, pack } from 'tar-stream'
import { type Issue, issue, Refusal, refuse } from '../../core/error/error.ts'
import { crateKey } from '../../core/paths/crates.ts'
import { timestamp } from '../../core/timestamp.ts'
import { copyCatalog } from '../database/copy.ts'
import { closeWhole, openDatabase } from '../database/database.ts'
import { run } from '../database/statement.ts'
import { asCaller } from '../places/disk/caller.ts'
import { createPrivately, makeFolder, syncFile, syncFolder } from '../places/disk/durable.ts'
import { isInside, openFile, readFolder, readText, statOf } from '../places/disk/files.ts'
import { findFault } from '../places/disk/sqlite-file.ts'
import { isTemporary, temporaryPath } from '../places/disk/steps.ts'
import { Lock } from '../places/locks/lock.ts'
import type { OpenFile } from '../places/place.ts'
import type { Progress } from '../projections/context.ts'
import { registryCounts } from '../records/crates.ts'
import { releaseOfBytes, releasePages } from '../records/releases-stored.ts'
import { LAST_BACKUP, writeValue } from '../records/values.ts'
import { DATABASE_FILE, SETTINGS_FILE } from '../registry/folder.ts'
import { openToRead, type Registry } from '../registry/registry.ts'

export const TOP = 'plimsoll-backup'

export const STDIO = '-'

/** The last file of a backup that lacks bytes, or has damaged ones: their keys, as JSON. */
export const LOST_FILE = 'lost.json'

export interface BackupResult {
  readonly crateFiles: number
  readonly lost: readonly Issue[]
}

/** The most attempts: a release in the snapshot may be deleted during the backup. */
const ATTEMPTS = 5

/** The file that says where a backup is written, until it is complete. */
const DRAFT = 'draft'

/**
 * Writes settings, records, and every `.crate` of a registry into one tar file, even while a daemon
 * is running: from a snapshot of the records, or a new one if a deletion removes some of its bytes.
 * The records are a file of SQLite, also where a server has them. The time of it is recorded.
 * The file appears complete or not at all, and only if SQLite finds no fault in it; versions whose
 * bytes are lost or damaged are returned as issues, and named in it. Refuses a place in the public
 * tree, and a second backup. The file `-` is standard output, which cannot be written twice:
 * there is one attempt.
 */
export async function backup(
  registry: Registry,
  file: string,
  progress?: Progress,
): Promise<BackupResult> {
  const target = file === STDIO ? null : resolve(file)
  if (target !== null && (await asCaller(() => statOf(target)))) refuse('backup_exists', { file })
  // It has the hashes of tokens and passwords, and everybody may read the tree.
  if (target !== null && isInside(target, registry.tree.root)) refuse('backup_public', { file })
  const attempts = target === null ? 1 : ATTEMPTS
  const lock = new Lock(join(registry.dir, 'locks', 'backup.lock'))
  if (!lock.tryAcquire(`process ${process.pid}`))
    refuse('backup_running', { dir: registry.dir, holder: lock.holder() })
  try {
    await removeAbandoned(registry.dir)
    if (target !== null) await asCaller(() => makeFolder(dirname(target)))
    for (let attempt = 1; ; attempt++) {
      try {
        const done = await write(registry, target, progress)
        const at = timestamp(registry.clock())
        if (done.lost.length === 0) await writeValue(registry.database, LAST_BACKUP, at)
        return done
      } catch (error) {
        if (!(error instanceof Refusal && error.has('backup_overtaken')) || attempt === attempts)
          throw error
      }
    }
  } finally {
    lock.release()
  }
}

async function write(
  registry: Registry,
  target: string | null,
  progress?: Progress,
): Promise<BackupResult> {
  const temporary = target === null ? null : temporaryPath(target)
  // A folder, because an open database has files next to it.
  const workplace = temporaryPath(join(registry.dir, DATABASE_FILE))
  const snapshot = join(workplace, DATABASE_FILE)
  try {
    await mkdir(workplace, { mode: 0o700 })
    if (temporary !== null) await writeFile(join(workplace, DRAFT), temporary)
    progress?.('copying the database', 0, 0)
    await copyRecords(registry, snapshot, progress)
    const reason = findFault(snapshot)
    if (reason !== null) refuse('database_damaged', { reason: `its copy: ${reason}` })
    const archive = pack()
    const output =
      temporary === null
        ? process.stdout
        : (await asCaller(() => open(temporary, 'wx', 0o600))).createWriteStream()
    const written = pipeline(archive, output)
    const filled = fill(archive, registry, snapshot, progress).catch((error: Error) => {
      archive.destroy(error)
      throw error
    })
    const [writing, filling] = await Promise.allSettled([written, filled])
    // A failure of one also fails the other. Report a Refusal from `fill`, else the writer's error.
    if (filling.status === 'rejected' && filling.reason instanceof Refusal) throw filling.reason
    if (writing.status === 'rejected') throw writing.reason
    if (filling.status === 'rejected') throw filling.reason
    if (temporary !== null && target !== null) {
      await asCaller(async () => {
        await syncFile(temporary)
        await rename(temporary, target)
        await syncFolder(dirname(target))
      })
    }
    return filling.value
  } finally {
    if (temporary !== null) await asCaller(() => rm(temporary, { force: true }))
    await rm(workplace, { recursive: true, force: true })
  }
}

/** Writes the records, as they are at one moment, to a file of SQLite, also those of a server. */
async function copyRecords(registry: Registry, file: string, progress?: Progress): Promise<void> {
  if (registry.settings.database.url === null) {
    // SQLite would make a file that everybody may read; it takes an empty one.
    createPrivately(file)
    await run(registry.database, 'VACUUM INTO ?', file)
    return
  }
  const source = await openToRead(registry)
  try {
    const copy = await openDatabase(file)
    const copied = () => copy.transaction(tx => copyCatalog(source.queries, tx, progress))
    await source.during(copied)
    await closeWhole(copy, file)
  } finally {
    await source.close()
  }
}

/** Removes the remains of killed backups; the caller must hold the lock for backups. */
async function removeAbandoned(dir: string): Promise<void> {
  for (const { name } of await readFolder(dir)) {
    if (!isTemporary(name)) continue
    const draft = await readText(join(dir, name, DRAFT))
    if (draft !== null && isTemporary(draft)) await asCaller(() => rm(draft, { force: true }))
    await rm(join(dir, name), { recursive: true, force: true })
  }
}

async function fill(
  archive: Pack,
  registry: Registry,
  snapshot: string,
  progress?: Progress,
): Promise<BackupResult> {
  const settings = await readFile(join(registry.dir, SETTINGS_FILE))
  archive.entry({ name: `${TOP}/${SETTINGS_FILE}` }, settings)
  await addBytes(archive, DATABASE_FILE, await openFile(snapshot))
  const records = await openDatabase(snapshot, registry.program)
  let done = 0
  const lost: Issue[] = []
  const keys: string[] = []
  try {
    const { releases: total } = await registryCounts(records)
    for await (const page of releasePages(records))
      for (const { name, version, cksum } of page) {
        const key = crateKey(name, cksum)
        const sum = await addBytes(archive, `crates/${key}`, await registry.crates.open(key))
        if (sum !== cksum) {
          if (sum === null && !(await releaseOfBytes(registry.database, cksum)))
            refuse('backup_overtaken', { name, version })
          lost.push(issue('crate_lost', { name, version }))
          keys.push(key)
        } else done++
        progress?.('packing .crate files', done, total)
      }
  } finally {
    await records.close()
  }
  if (keys.length > 0) archive.entry({ name: `${TOP}/${LOST_FILE}` }, JSON.stringify(keys))
  archive.finalize()
  return { crateFiles: done, lost }
}

/** Returns the SHA-256 of what it has written; null without a file. */
async function addBytes(
  archive: Pack,
  name: string,
  file: OpenFile | null,
): Promise<string | null> {
  // Opened before the header is written: a file that is deleted now stays readable to its end.
  if (!file) return null
  const hash = createHash('sha256')
  const hashed = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }
  try {
    const entry = archive.entry({ name: `${TOP}/${name}`, size: file.size })
    await pipeline(file.bytes, hashed, entry)
    return hash.digest('hex')
  } finally {
    // An archive that has failed takes no entry, and would leave the file open.
    file.bytes.destroy()
  }
}
