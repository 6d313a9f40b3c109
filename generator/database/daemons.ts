import { compareVersions, parseVersion } from '../../core/version.ts'
import { databaseTime, isOnServer } from './engine.ts'
import { column, type Queries, run, upsert } from './statement.ts'

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

const DAEMON = 'daemon:'

/** A daemon that gave no sign for this long no longer serves. */
const GONE_SECONDS = 20

/** Returns the daemons that serve from a server, by id; none for a file, which has only one. */
export async function listDaemons(db: Queries): Promise<SeenDaemon[]> {
  if (!isOnServer(db)) return []
  const now = await databaseTime(db)
  const sql = 'SELECT value FROM facts WHERE key >= ? AND key < ? ORDER BY key'
  const daemons = (await column<string>(db, sql, DAEMON, `${DAEMON}~`)).map(row => {
    const { seen, ...daemon } = JSON.parse(row) as ServingDaemon & { readonly seen: number }
    return { ...daemon, ago: Math.round(Math.abs(now - seen) / 1000) }
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
export async function recordDaemon(db: Queries, daemon: ServingDaemon): Promise<void> {
  const now = await databaseTime(db)
  const row = { key: `${DAEMON}${daemon.id}`, value: JSON.stringify({ ...daemon, seen: now }) }
  await upsert(db, 'facts', ['key'], row)
}

/** Records that a daemon no longer serves. */
export async function deleteDaemon(db: Queries, id: string): Promise<void> {
  await run(db, 'DELETE FROM facts WHERE key = ?', `${DAEMON}${id}`)
}
