import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extract, type Pack, pack } from 'tar-stream'
import { Refusal, refuse } from '../../core/error/error.ts'
import { crateKey } from '../../core/paths/crates.ts'
import type { Progress } from '../build/build.ts'
import { DATABASE_FILE, type Registry, SETTINGS_FILE } from '../registry.ts'
import { registryCounts } from '../store/catalog/crates.ts'
import { releaseOfBytes } from '../store/catalog/releases.ts'
import { CrateFolder } from '../store/crate-folder.ts'
import type { CrateStore, OpenBytes } from '../store/crate-store.ts'
import { type Database, openDatabase } from '../store/database/database.ts'
import { isOnServer } from '../store/database/engine.ts'
import { all, type Row, run, value } from '../store/database/statement.ts'
import { isTemporary, temporaryPath } from '../store/disk/steps.ts'
import { openFile, readFolder, statOf, syncFile, syncFolder } from '../store/durable-file.ts'

/** The top folder inside a backup. */
const TOP = 'plimsoll-backup'

/** The most attempts: a release in the snapshot may be deleted during the backup. */
const ATTEMPTS = 5

/** The age at which leftovers of a killed backup are removed from the registry folder. */
const ABANDONED_MS = 24 * 3_600_000

/**
 * Writes settings, records, and every `.crate` of a registry into one tar file, even while a daemon
 * is running. The records are a snapshot, and their bytes never change; if a deletion removes some
 * of them, takes a new snapshot. The file appears complete or not at all.
 */
export async function backup(
  registry: Registry,
  file: string,
  progress?: Progress,
): Promise<number> {
  if (existsSync(file)) refuse('backup_exists', { file })
  if (isOnServer(registry.database)) refuse('backup_on_server', { dir: registry.dir })
  const target = resolve(file)
  await mkdir(dirname(target), { recursive: true })
  await removeAbandoned(registry.dir)
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(registry, target, progress)
    } catch (error) {
      if (!(error instanceof Refusal && error.has('backup_overtaken')) || attempt === ATTEMPTS)
        throw error
    }
  }
}

async function write(registry: Registry, target: string, progress?: Progress): Promise<number> {
  const temporary = temporaryPath(target)
  // A folder, because an open database has files next to it.
  const workplace = temporaryPath(join(registry.dir, DATABASE_FILE))
  const snapshot = join(workplace, DATABASE_FILE)
  try {
    await mkdir(workplace)
    progress?.('copying the database', 0, 0)
    await run(registry.database, 'VACUUM INTO ?', snapshot)
    const archive = pack()
    const written = pipeline(archive, createWriteStream(temporary, { mode: 0o600, flags: 'wx' }))
    const filled = fill(archive, registry, snapshot, progress).catch((error: Error) => {
      archive.destroy(error)
      throw error
    })
    const [writing, filling] = await Promise.allSettled([written, filled])
    // A failure of one also fails the other. Report a Refusal from `fill`, else the writer's error.
    if (filling.status === 'rejected' && filling.reason instanceof Refusal) throw filling.reason
    if (writing.status === 'rejected') throw writing.reason
    if (filling.status === 'rejected') throw filling.reason
    await syncFile(temporary)
    await rename(temporary, target)
    await syncFolder(dirname(target))
    return filling.value
  } finally {
    await rm(temporary, { force: true })
    await rm(workplace, { recursive: true, force: true })
  }
}

async function removeAbandoned(dir: string): Promise<void> {
  for (const { name } of await readFolder(dir)) {
    const path = join(dir, name)
    const facts = isTemporary(name) ? await statOf(path) : null
    if (facts && facts.mtimeMs < Date.now() - ABANDONED_MS)
      await rm(path, { recursive: true, force: true })
  }
}

async function fill(
  archive: Pack,
  registry: Registry,
  snapshot: string,
  progress?: Progress,
): Promise<number> {
  const settings = await readFile(join(registry.dir, SETTINGS_FILE))
  archive.entry({ name: `${TOP}/${SETTINGS_FILE}` }, settings)
  await addBytes(archive, DATABASE_FILE, await openFile(snapshot))
  const records = await openDatabase(snapshot)
  let done = 0
  try {
    const { releases: total } = await registryCounts(records)
    for await (const { key, name, version, cksum } of releasesOf(records)) {
      const bytes = await registry.crates.open(key)
      if (!(await addBytes(archive, `crates/${key}`, bytes))) {
        const isWanted = await releaseOfBytes(registry.database, cksum)
        refuse(isWanted ? 'crate_lost' : 'backup_overtaken', { name, version })
      }
      done++
      progress?.('packing .crate files', done, total)
    }
  } finally {
    await records.destroy()
  }
  archive.finalize()
  return done
}

/** Adds bytes to the archive; returns false when there are none. */
async function addBytes(archive: Pack, name: string, found: OpenBytes | null): Promise<boolean> {
  // Opened before the header is written: what is deleted from now on can still be read to its end.
  if (!found) return false
  await pipeline(found.bytes, archive.entry({ name: `${TOP}/${name}`, size: found.size }))
  return true
}

/**
 * Restores a backup as the registry folder `dir`, which must be missing or empty. Checks every
 * `.crate` against its checksum; the folder appears only when everything is valid.
 */
export async function restore(file: string, dir: string, progress?: Progress): Promise<number> {
  if (!existsSync(file)) refuse('file_missing', { path: file })
  const target = resolve(dir)
  if (existsSync(target) && (await readdir(target)).length > 0) refuse('restore_not_empty', { dir })
  await mkdir(dirname(target), { recursive: true })
  const workplace = temporaryPath(target)
  try {
    const count = await unpack(file, workplace, progress).catch(error => {
      // An error of the operating system has a `syscall`; any other error is about the archive.
      if (error instanceof Refusal || 'syscall' in error) throw error
      return refuse('backup_unreadable', { file, reason: error.message })
    })
    await rm(target, { recursive: true, force: true })
    await rename(workplace, target)
    await syncFolder(dirname(target))
    return count
  } finally {
    await rm(workplace, { recursive: true, force: true })
  }
}

async function unpack(file: string, dir: string, progress?: Progress): Promise<number> {
  await mkdir(dir)
  const crates = new CrateFolder(join(dir, 'crates'))
  const archive = extract()
  const reading = pipeline(createReadStream(file), archive)
  // The loop below handles a failed read; this prevents an unhandled rejection until then.
  reading.catch(() => undefined)
  const seen = new Set<string>()
  let count = 0
  for await (const entry of archive) {
    const { name: path, type } = entry.header
    const name = path.startsWith(`${TOP}/`) ? path.slice(TOP.length + 1) : ''
    const bytes = entry as AsyncIterable<Uint8Array>
    const isOwn = name === SETTINGS_FILE || name === DATABASE_FILE
    if (type !== 'file' || seen.has(name) || !(isOwn || KEY.test(name)))
      refuse('backup_foreign', { file, entry: path })
    seen.add(name)
    if (isOwn) {
      const path = join(dir, name)
      await pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
      await syncFile(path)
    } else {
      await takeCrate(crates, name.slice('crates/'.length), bytes, file)
      count++
      progress?.('unpacking .crate files', count, 0)
    }
  }
  await reading
  for (const part of [SETTINGS_FILE, DATABASE_FILE])
    if (!seen.has(part)) refuse('backup_incomplete', { file, part })
  await requireEveryCrate(join(dir, DATABASE_FILE), seen, file)
  return count
}

const DAMAGED = 'its records are damaged'

/** Refuses a backup that lacks a `.crate`: cut off between two entries, it looks complete. */
async function requireEveryCrate(
  database: string,
  seen: ReadonlySet<string>,
  file: string,
): Promise<void> {
  const records = await openDatabase(database).catch(() =>
    refuse('backup_unreadable', { file, reason: DAMAGED }),
  )
  try {
    const check = await value<string>(records, 'PRAGMA quick_check(1)')
    if (check !== 'ok') refuse('backup_unreadable', { file, reason: DAMAGED })
    for await (const { key } of releasesOf(records)) {
      if (!seen.has(`crates/${key}`)) refuse('backup_incomplete', { file, part: `crates/${key}` })
    }
  } finally {
    await records.destroy()
  }
}

/** Matches keys of the crate store: folders by name prefix, name, checksum. */
const KEY = /^crates\/(?:[a-z0-9_-]{1,2}\/){1,2}[a-z][a-z0-9_-]{0,63}\/[0-9a-f]{64}\.crate$/

async function takeCrate(
  crates: CrateStore,
  key: string,
  bytes: AsyncIterable<Uint8Array>,
  file: string,
): Promise<void> {
  const staged = await crates.stage(bytes, Number.MAX_SAFE_INTEGER)
  if (basename(key) !== `${staged.cksum}.crate`) {
    await staged.discard()
    refuse('backup_damaged', { file, entry: key })
  }
  await staged.keep(key)
}

/** Yields every release with the key of its bytes, read in pages. */
async function* releasesOf(
  records: Database,
): AsyncIterable<{ key: string; name: string; version: string; cksum: string }> {
  const text = `SELECT releases.id, crates.name, releases.version, releases.cksum
    FROM releases JOIN crates ON crates.id = releases.crate_id
    WHERE releases.id > ? ORDER BY releases.id LIMIT 1000`
  for (let last = 0; ; ) {
    const page = await all<Row<'releases'> & Pick<Row<'crates'>, 'name'>>(records, text, last)
    for (const { name, version, cksum } of page) {
      yield { key: crateKey(name, cksum), name, version, cksum }
    }
    if (page.length === 0) return
    last = page.at(-1)?.id ?? last
  }
}
