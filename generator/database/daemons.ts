import { compareVersions, parseVersion } from '../../core/version.ts'
import { databaseTime, isOnServer } from './engine.ts'
import { column, type Queries, run, upsert, value } from './statement.ts'

/** A daemon that serves the registry, as it tells the others through the database. */
export interface ServingDaemon {
  readonly id: string
  readonly host: string
  readonly process: number
  readonly url: string
  readonly version: string
  /** The last step of the schema that it knows. */
  readonly schema: string
  /** Fingerprints of what all daemons must have in common, by its name. */
  readonly common: Readonly<Record<string, string>>
}

/** A daemon, and how long ago it was seen, in seconds. */
export type SeenDaemon = ServingDaemon & { readonly ago: number }

/** The prefix of the keys of the facts. */
const DAEMON = 'daemon:'

/** A daemon that was not seen for so many seconds no longer serves. */
const GONE_SECONDS = 20

/**
 * Returns the daemons that serve a registry whose records are on a server, in order of their ids;
 * nothing for a file, whose only daemon holds the lock of its folder.
 */
export async function listDaemons(db: Queries): Promise<SeenDaemon[]> {
  if (!isOnServer(db)) return []
  const now = await databaseTime(db)
  const text = 'SELECT value FROM facts WHERE key >= ? AND key < ? ORDER BY key'
  const daemons = (await column<string>(db, text, DAEMON, `${DAEMON}~`)).map(row => {
    const { seen, ...daemon } = JSON.parse(row) as ServingDaemon & { readonly seen: number }
    return { ...daemon, ago: Math.max(0, Math.round((now - seen) / 1000)) }
  })
  return daemons.filter(({ ago }) => ago < GONE_SECONDS)
}

/** Returns the daemons of a newer version than this one. */
export async function newerDaemons(db: Queries, version: string): Promise<SeenDaemon[]> {
  const isNewer = (other: string) => compareVersions(parseVersion(other), parseVersion(version)) > 0
  return (await listDaemons(db)).filter(daemon => isNewer(daemon.version))
}

/** Returns one of several daemons in words. */
export function describeDaemon({ host, process, url, version, ago, id }: SeenDaemon): string {
  return `${id} on ${host}, process ${process} at ${url}, version ${version}, seen ${ago} s ago`
}

/** Records that a daemon serves now. */
export async function noteDaemon(db: Queries, daemon: ServingDaemon): Promise<void> {
  const now = await databaseTime(db)
  const fact = { key: `${DAEMON}${daemon.id}`, value: JSON.stringify({ ...daemon, seen: now }) }
  await upsert(db, 'facts', ['key'], fact)
}

/** Records that a daemon no longer serves. */
export async function forgetDaemon(db: Queries, id: string): Promise<void> {
  await run(db, 'DELETE FROM facts WHERE key = ?', `${DAEMON}${id}`)
}

/** Returns the number of the last change, by which `hasMarksUpTo` tells old marks from new ones. */
export async function lastChange(db: Queries): Promise<number> {
  return (await value<number>(db, 'SELECT max(id) FROM audit')) ?? 0
}

/** Returns whether marks of these kinds are due that were set up to a change. */
export async function hasMarksUpTo(
  db: Queries,
  kinds: readonly string[],
  change: number,
  at: string,
): Promise<boolean> {
  const text = `SELECT 1 FROM marks WHERE kind IN (SELECT value FROM json_each(?))
    AND generation <= ? AND (retry_at IS NULL OR retry_at <= ?) LIMIT 1`
  return (await value(db, text, kinds, change, at)) !== null
}
