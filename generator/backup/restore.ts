import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { Refusal, refuse } from '../../core/error/error.ts'
import { isBucket } from '../../core/paths/bucket.ts'
import { crateKey } from '../../core/paths/crates.ts'
import { changedSettings } from '../../core/settings/file.ts'
import { resolveSettings } from '../../core/settings/settings.ts'
import { closeWhole, openDatabase } from '../database/database.ts'
import type { BeforeUpgrade } from '../database/migrations.ts'
import { value } from '../database/statement.ts'
import { clearMirrored } from '../deploy/complete-mirror.ts'
import { CrateStore } from '../places/crate-store.ts'
import { asCaller } from '../places/disk/caller.ts'
import { makeFolder, syncFile, syncFolder, writeDurably } from '../places/disk/durable.ts'
import { openFile, readFolder, readText, removeIfEmpty } from '../places/disk/files.ts'
import { requireRead } from '../places/disk/sqlite-file.ts'
import { temporaryName } from '../places/disk/steps.ts'
import { Lock } from '../places/locks/lock.ts'
import { requireApart } from '../places/storage.ts'
import type { Progress } from '../projections/context.ts'
import { endPause } from '../records/pause.ts'
import { releasePages } from '../records/releases-stored.ts'
import {
  DATABASE_FILE,
  isRegistry,
  SETTINGS_FILE,
  type SettingSources,
} from '../registry/folder.ts'
import type { RegistrySources } from '../registry/registry.ts'
import { backupEntries, DAMAGED } from './archive.ts'
import { LOST_FILE, STDIO } from './backup.ts'

/** The folder that a file system itself keeps at its mount point. */
const OF_FILE_SYSTEM = 'lost+found'

/** The folder that has everything until it is complete; later, its contents move out. */
const WORKPLACE = temporaryName('restore')
const MOVING = 'moving.json'

/**
 * Restores a backup as the registry folder `dir`, which must be missing or empty, or have a killed
 * restore. Changes nothing outside of it: settings that lead out are dropped. Checks every `.crate`
 * against its checksum. `plimsoll.toml` appears last: until then, there is no registry. The file `-`
 * is standard input.
 */
export async function restore(
  file: string,
  dir: string,
  sources: RegistrySources,
  progress?: Progress,
) {
  const isInput = file === STDIO
  const name = isInput ? 'standard input' : file
  const target = resolve(dir)
  const isNew = !existsSync(target)
  // Inside the folder: a mount point cannot be replaced by another folder.
  const workplace = join(target, WORKPLACE)
  const isAgain = existsSync(workplace)
  if (!isAgain) await requireEmpty(target, dir)
  const opened = isInput ? null : await asCaller(() => openFile(file))
  if (!isInput && !opened) refuse('file_missing', { path: file })
  await makeFolder(target)
  const lock = new Lock(join(workplace, 'lock'))
  if (!lock.tryAcquire(`process ${process.pid}`))
    refuse('restore_running', { dir, holder: lock.holder() })
  try {
    if (isAgain) await removeAbandoned(target)
    await requireEmpty(target, dir)
    const content = join(workplace, 'content')
    await mkdir(content)
    const place = { target, content, sources, bytes: opened?.bytes ?? process.stdin }
    const restored = await unpack(name, place, progress).catch(error => {
      // An error of the operating system has a `syscall`; any other error is about the archive.
      if (error instanceof Refusal || 'syscall' in error) throw error
      return refuse('backup_unreadable', { file: name, reason: error.message })
    })
    await moveAll(content, target)
    // Whether the remains of a killed restore were removed.
    return { ...restored, isAgain }
  } finally {
    lock.release()
    await rm(workplace, { recursive: true, force: true })
    if (isNew) await removeIfEmpty(target)
  }
}

/** Refuses a folder with anything in it that neither this program nor the file system needs. */
async function requireEmpty(target: string, dir: string): Promise<void> {
  const names = (await readFolder(target)).map(entry => entry.name)
  const entry = names.find(name => ![OF_FILE_SYSTEM, WORKPLACE].includes(name))
  if (entry !== undefined) refuse('restore_not_empty', { dir, entry })
}

/** Removes files that a killed restore had moved; a complete registry stays. */
async function removeAbandoned(target: string): Promise<void> {
  const workplace = join(target, WORKPLACE)
  const moved = JSON.parse((await readText(join(workplace, MOVING))) ?? '[]') as string[]
  if (!isRegistry(target))
    for (const name of moved)
      await rm(join(target, basename(name)), { recursive: true, force: true })
  await rm(join(workplace, 'content'), { recursive: true, force: true })
}

async function moveAll(from: string, to: string): Promise<void> {
  const others = (await readdir(from)).filter(name => name !== SETTINGS_FILE)
  const journal = join(to, WORKPLACE, MOVING)
  await writeDurably(journal, Buffer.from(JSON.stringify(others)), 0o600)
  for (const names of [others, [SETTINGS_FILE]]) {
    for (const name of names) await rename(join(from, name), join(to, name))
    await syncFolder(to)
  }
}

interface Folders {
  readonly target: string
  /** The folder that has everything until it is complete. */
  readonly content: string
  readonly sources: RegistrySources
  readonly bytes: NodeJS.ReadableStream
}

async function unpack(file: string, place: Folders, progress?: Progress) {
  const [seen, damaged, lost] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const database = join(place.content, DATABASE_FILE)
  let settings: RestoredSettings | null = null
  let crateFiles = 0
  for await (const { name, bytes } of backupEntries(file, place.bytes)) {
    seen.add(name)
    // A backup begins with the settings, which say where everything else belongs.
    if (settings === null) settings = await takeSettings(await text(bytes), file, place)
    else if (name === DATABASE_FILE) {
      await pipeline(bytes, createWriteStream(database, { flags: 'wx', mode: 0o600 }))
      await syncFile(database)
    } else if (name === LOST_FILE) {
      for (const key of JSON.parse(await text(bytes))) lost.add(key)
    } else {
      const crates = CrateStore.inFolder(join(place.content, settings.crates))
      const key = name.slice('crates/'.length)
      const staged = await crates.stage(bytes, Number.MAX_SAFE_INTEGER)
      if (basename(key) === `${staged.cksum}.crate`) {
        await staged.keep(key)
        crateFiles++
        progress?.('unpacking .crate files', crateFiles, 0)
      } else damaged.add(key)
      await staged.discard()
    }
  }
  for (const key of lost) if (!damaged.delete(key)) seen.add(`crates/${key}`)
  for (const entry of damaged) refuse('backup_damaged', { file, entry })
  if (settings === null) return refuse('backup_incomplete', { file, part: SETTINGS_FILE })
  if (!seen.has(DATABASE_FILE)) refuse('backup_incomplete', { file, part: DATABASE_FILE })
  await finishRecords(database, seen, file, place.sources)
  return { ...settings, crateFiles }
}

async function takeSettings(
  original: string,
  file: string,
  { target, content, sources }: Folders,
): Promise<RestoredSettings> {
  const name = `${SETTINGS_FILE} in ${file}`
  const settings = restoredSettings(target, { name, text: original }, sources)
  const texts = new Map([[SETTINGS_FILE, settings.text]])
  if (settings.text !== original) texts.set(ORIGINAL_SETTINGS_FILE, original)
  for (const [name, text] of texts) {
    const path = join(content, name)
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
    await syncFile(path)
  }
  return settings
}

/**
 * Refuses a backup that lacks a `.crate` which was not lost before: cut off between two entries, it
 * looks complete. The records then know no pause, and no bucket with the whole tree: it may have a
 * newer one.
 */
async function finishRecords(
  database: string,
  seen: ReadonlySet<string>,
  file: string,
  { program, onUpgrade }: RegistrySources,
): Promise<void> {
  const upgrade: BeforeUpgrade = async (_, from, to) =>
    onUpgrade?.(`upgrading the records of ${file} from ${from} to ${to}`)
  const records = await openDatabase(database, program, upgrade).catch(error => {
    if (error instanceof Refusal) throw error
    return refuse('backup_unreadable', { file, reason: DAMAGED })
  })
  try {
    const check = await value<string>(records, 'PRAGMA quick_check(1)')
    if (requireRead(String(check)) !== 'ok') refuse('backup_unreadable', { file, reason: DAMAGED })
    for await (const page of releasePages(records))
      for (const { name, cksum } of page) {
        const part = `crates/${crateKey(name, cksum)}`
        if (!seen.has(part)) refuse('backup_incomplete', { file, part })
      }
    await clearMirrored(records)
    await endPause(records)
  } catch (error) {
    await records.close()
    throw error
  }
  await closeWhole(records, database)
}

/** The original settings file of a backup, if the restored one differs. */
export const ORIGINAL_SETTINGS_FILE = 'plimsoll.original.toml'

/** Settings that lead to places which the backed-up registry may still use. */
const PLACES = /^(?:storage\.(?:crates|public)|upstream\.[^.]+\.storage)$/
const SERVERS = /^(?:database\.url|git\.push|cdn\.purge_url)$/

/** The values that keep a restored registry in its folder; those of all other places are empty. */
const WITHIN: Readonly<Record<string, string>> = {
  'storage.crates': 'crates',
  'storage.public': 'public',
}

export interface RestoredSettings {
  readonly text: string
  /** The settings of the backup that are not in `text`: they lead out of the folder, or are unknown. */
  readonly leftOut: readonly string[]
  readonly variables: readonly string[]
  /** The value for a command line that keeps each of them inside, by setting. */
  readonly within: Readonly<Record<string, string>>
  /** The folder for `.crate` files, relative to the registry's. */
  readonly crates: string
}

/**
 * Returns the settings for restoring a backup to `dir`, flags included, so that nothing outside of
 * it is changed, without those that this version does not know. Refuses flags that lead out of it,
 * and places that overlap.
 */
export function restoredSettings(
  dir: string,
  file: { readonly name: string; readonly text: string },
  sources: SettingSources,
): RestoredSettings {
  const isLeftOut = (key: string, value: unknown) => leadsOut(dir, key, value)
  const { leftOut, text } = changedSettings(file, isLeftOut, sources.flags)
  const { values, origins, settings } = resolveSettings({ file: { ...file, text }, ...sources })
  const variables: string[] = []
  const within: Record<string, string> = {}
  for (const [key, value] of values) {
    const origin = origins.get(key)
    if (!leadsOut(dir, key, value) || typeof origin !== 'object') continue
    if (origin.kind === 'flag') refuse('restore_outside', { key, dir })
    variables.push(origin.name)
    within[key] = WITHIN[key] ?? ''
  }
  const places = {
    crates: within['storage.crates'] ?? settings.storage.crates,
    public: within['storage.public'] ?? settings.storage.public,
  }
  requireApart(dir, { ...settings.storage, ...places })
  const head = [
    leftOut.length > 0
      ? '# Restored from a backup, without what leads out of this folder or is unknown:'
      : '# Restored from a backup, with what the command line has set.',
    ...leftOut.map(key => `#   ${key}`),
    `# ${ORIGINAL_SETTINGS_FILE} is the file as it was in the backup.`,
  ]
  return {
    text: text === file.text ? text : [...head, text].join('\n'),
    leftOut,
    variables,
    within,
    crates: relative(dir, resolve(dir, places.crates)),
  }
}

function leadsOut(dir: string, key: string, value: unknown): boolean {
  if (value === null || value === undefined) return false
  if (SERVERS.test(key)) return !Array.isArray(value) || value.length > 0
  const place = String(value)
  const isInside = !isBucket(place) && `${resolve(dir, place)}${sep}`.startsWith(`${dir}${sep}`)
  return PLACES.test(key) && !isInside
}
