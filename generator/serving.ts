import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { refuse } from '../core/error/error.ts'
import { isBucket } from '../core/paths/bucket.ts'
import { GIT_INDEX_FOLDER } from '../core/paths/tree.ts'
import type { Settings } from '../core/settings/settings.ts'
import { sha256 } from '../core/sha256.ts'
import { withoutCredentials } from '../core/urls/urls.ts'
import {
  deleteDaemon,
  listDaemons,
  recordDaemon,
  type SeenDaemon,
  type ServingDaemon,
} from './database/daemons.ts'
import { levelOf, requireSchema } from './database/migrations.ts'
import type { Queries } from './database/statement.ts'
import { TREE_FORMAT } from './pages/build.ts'
import { makeFolder, writeDurably } from './places/disk/durable.ts'
import { fileStats, readFolder, unlessMissing } from './places/disk/files.ts'
import { temporaryName } from './places/disk/steps.ts'
import { hasOtherListings } from './records/crate-change.ts'
import { ACCESS, readValue, writeValue } from './records/values.ts'
import type { Registry } from './registry/registry.ts'

/** The name of what only daemons of the same version share. */
const VERSION = 'the version of Plimsoll'

/** Settings that each daemon has for itself. */
const OWN = new Set(['server', 'tls', 'log', 'database'])

/** A daemon among those that serve the registry from the same database. */
export interface Serving {
  /**
   * Tells the others that this one serves; to be called every few seconds. Refuses when a newer
   * version has changed the database in a way that this one does not know.
   */
  record(): Promise<void>
  /** Tells the others that this one stops. */
  end(): Promise<void>
}

/**
 * Tells the other daemons of the database that this one begins to serve at `url`; null for a
 * registry in files, which has one daemon. Refuses settings that differ from those of the others,
 * another public tree or crate store, and versions that cannot serve beside each other.
 */
export async function beginServing(registry: Registry, url: string): Promise<Serving | null> {
  const { database, program } = registry
  if (!registry.isShared) return null
  const self: ServingDaemon = {
    id: await daemonId(registry.dir),
    host: hostname(),
    process: process.pid,
    url,
    version: program.version,
    schema: levelOf(program),
    common: commonOf(registry),
  }
  const record = async (tx: Queries) => {
    // While this one was not heard of, a newer version may have gone on without it.
    const place = withoutCredentials(registry.settings.database.url ?? '')
    await requireSchema(tx, place, program)
    if (await hasOtherListings(tx)) refuse('listings_changed', { version: program.version })
    // Settings may have been reloaded.
    await recordDaemon(tx, { ...self, common: commonOf(registry) })
  }
  const serving = {
    record: async () => {
      await leaveTraces(registry, self.id)
      await database.transaction(record)
    },
    end: async () => {
      await deleteDaemon(database, self.id)
      for (const path of tracesOf(registry, self.id)) await rm(path, { force: true })
    },
  }
  if (registry.tree.shared) await clearFolder(registry.tree.root)
  await leaveTraces(registry, self.id)
  // One transaction: of two daemons that begin at once, the second sees the first.
  const others = await database.transaction(async tx => {
    const others = (await listDaemons(tx)).filter(({ id }) => id !== self.id)
    for (const other of others) requireSame(self, other)
    await record(tx)
    return others
  })
  try {
    for (const other of others) await requireTraces(registry, other)
    return serving
  } catch (error) {
    await serving.end()
    throw error
  }
}

/**
 * Records the address and the settings of access that a served registry has, for commands that are
 * run beside it and for later starts. Returns the address that it had before if that was another.
 */
export async function recordServed({ database, urls, access }: Registry): Promise<string | null> {
  const record = JSON.stringify(access.access)
  if ((await readValue(database, ACCESS)) !== record) await writeValue(database, ACCESS, record)
  const before = await readValue(database, 'base')
  if (before === urls.base) return null
  await writeValue(database, 'base', urls.base)
  return before
}

/** Removes what a killed daemon has not uploaded to the bucket: its marks are there. */
async function clearFolder(root: string): Promise<void> {
  for (const { name } of await readFolder(root))
    if (name !== GIT_INDEX_FOLDER) await rm(join(root, name), { recursive: true, force: true })
}

/** Returns the id of the daemon of a registry folder, which stays the same. */
async function daemonId(dir: string): Promise<string> {
  const path = join(dir, 'locks', 'daemon.id')
  const before = await unlessMissing(readFile(path, 'utf8'))
  if (before !== null && /^[0-9a-f]{8}$/.test(before)) return before
  const id = randomBytes(4).toString('hex')
  await writeDurably(path, Buffer.from(id), 0o600)
  return id
}

/** Returns fingerprints: what is compared may contain secrets, and everybody can read these. */
function commonOf({ dir, settings, urls, program }: Registry): Record<string, string> {
  const values = new Map<string, unknown>([
    ['registry.base_url', urls.base],
    ['the format of the index', TREE_FORMAT],
    [VERSION, [program.version, program.pageFormat, levelOf(program)]],
  ])
  for (const [section, rows] of Object.entries(settings)) {
    if (OWN.has(section)) continue
    if (section === 'yanked') values.set(section, rows)
    else
      for (const [name, value] of Object.entries(rows)) {
        const key = `${section}.${name}`
        if (!values.has(key)) values.set(key, sharedValue(key, value))
      }
  }
  return Object.fromEntries(Array.from(values, ([key, value]) => [key, fingerprint(dir, value)]))
}

/** Each machine may have the same folder at another path. */
function sharedValue(key: string, value: Settings['storage'][keyof Settings['storage']]): unknown {
  const isPlace = key === 'storage.crates' || key === 'storage.public'
  return isPlace && !isBucket(String(value)) ? 'a folder' : value
}

function fingerprint(dir: string, value: unknown): string {
  // Paths of files are below each one's own folder.
  return sha256(JSON.stringify(value).replaceAll(`"${dir}/`, '"')).slice(0, 16)
}

function requireSame(self: ServingDaemon, other: SeenDaemon): void {
  const names = new Set([...Object.keys(self.common), ...Object.keys(other.common)])
  const isOneVersion = self.version === other.version
  // Each version may have settings that the other one does not know.
  const isCompared = (name: string) =>
    isOneVersion || (name !== VERSION && name in self.common && name in other.common)
  const differ = [...names].filter(
    name => isCompared(name) && self.common[name] !== other.common[name],
  )
  if (differ.length > 0)
    refuse('daemons_differ', { ...describeDaemon(other), names: differ.join(', ') })
}

/**
 * Returns the files by which others recognize that they have the same folders. As temporary files
 * they are neither listed nor served, and removed when they are old. Buckets are compared by name.
 */
function tracesOf({ tree, crates }: Registry, id: string): string[] {
  const name = temporaryName(`daemon-${id}`)
  if (tree.shared) return []
  return [tree.path(name), crates.path(name)].filter(path => path !== null)
}

async function leaveTraces(registry: Registry, id: string): Promise<void> {
  for (const path of tracesOf(registry, id)) {
    await makeFolder(join(path, '..'))
    await writeFile(path, '')
  }
}

async function requireTraces(registry: Registry, other: SeenDaemon): Promise<void> {
  const [tree, crates] = tracesOf(registry, other.id)
  for (const [key, path] of [
    ['storage.public', tree] as const,
    ['storage.crates', crates] as const,
  ])
    if (path !== undefined && !(await fileStats(path)))
      refuse('daemons_apart', { ...describeDaemon(other), key, dir: join(path, '..') })
}

function describeDaemon({ host, process, url }: SeenDaemon) {
  return { host, process, url }
}
