import { existsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { issue, Refusal, refusalOnly } from '../core/error/error.ts'
import { GIT_INDEX_FOLDER } from '../core/paths/tree.ts'
import { timestamp } from '../core/timestamp.ts'
import { acting, lacksAdministrator, NO_ADMINISTRATOR } from './accounts/accounts.ts'
import { listWithoutRead } from './accounts/tokens.ts'
import { listDaemons } from './database/daemons.ts'
import { readEngine } from './database/engine.ts'
import { isMirrored } from './deploy/complete-mirror.ts'
import { fetchProblem } from './git/git-index.ts'
import { findEngine } from './git/index-repository/repository.ts'
import { damage } from './places/disk/damage.ts'
import { registryCounts } from './records/crates.ts'
import { countMarks, listFailedMarks } from './records/marks.ts'
import { stuckCrates } from './records/owners.ts'
import { listPlainPages } from './records/pages/plain-pages.ts'
import { type Pause, readPause } from './records/pause.ts'
import { listFailures } from './records/values.ts'
import { tlsProblem } from './registry/certificate.ts'
import { DATABASE_FILE } from './registry/folder.ts'
import { type Registry, serveHolder } from './registry/registry.ts'
import { COMMIT } from './version.ts'

/** The most pages shown as plain text that are listed. */
const PLAIN_SHOWN = 100

/** Free and total bytes of a file system, and what of the registry is on it. */
export interface DiskSpace {
  readonly what: string
  readonly free: number
  readonly size: number
}

/** The state of a registry. */
export type Status = Awaited<ReturnType<typeof readStatus>>

/**
 * Reads the state of a registry, by the names of `plimsoll status --json`. Counts pending work up to `most` of each kind, because
 * the time of that grows with their number; nothing else takes longer in a larger registry.
 */
export async function readStatus(registry: Registry, now: Date, most: number) {
  const { crates, database, dir, followers, tree, urls } = registry
  const { name, version, bytes } = await readEngine(database, join(dir, DATABASE_FILE))
  return {
    at: timestamp(now),
    ...(await registryCounts(database)),
    pending_work: await countMarks(
      database,
      followers.map(({ kind }) => kind),
      most,
    ),
    daemon: serveHolder(dir),
    daemons: await listDaemons(database),
    ...(await gitState(registry)),
    pause: await readPause(database),
    base_url: urls.base,
    index: urls.sparseIndex,
    database_bytes: bytes,
    database_damage: damage.of(join(dir, DATABASE_FILE)),
    disks: await readDisks(dir, tree.root),
    crate_store: crates.place.name,
    public_tree: tree.shared?.name ?? tree.root,
    mirror: tree.mirror?.bucket.name ?? null,
    mirror_complete: await isMirrored(registry),
    commit: COMMIT,
    programs: {
      Plimsoll: registry.program.version,
      'Node.js': process.versions.node,
      [name]: version,
    },
    last_errors: await listFailures(database),
    failed_work: await listFailedMarks(database, registry.followers),
    plain_pages: await listPlainPages(database, PLAIN_SHOWN),
    tokens_without_read: await listWithoutRead(database, registry.settings.auth.required, now),
    tls_problem: tlsProblem(registry.settings),
    administrator_missing: await lacksAdministrator(database, registry.settings, now),
    crates_stuck: await stuckCrates(
      database,
      acting(registry.settings, now),
      timestamp(now),
      PLAIN_SHOWN,
    ),
  }
}

/** Returns what operators should do something about. */
export function warningsOf(status: Status): string[] {
  const { pause, database_damage: reason, tokens_without_read: withoutRead } = status
  const { crates_stuck: stuck } = status
  const tokens = withoutRead.map(({ id, user }) => `${id} of ${user}`).join(', ')
  const limited = `tokens for certain crates cannot read, because reading is not limited by crate: ${tokens}; whoever has to read needs a token for all crates`
  return [
    reason === null ? [] : issue('database_damaged', { reason }).message,
    status.git_index_problem ?? [],
    status.tls_problem ?? [],
    pause ? describePause(pause) : [],
    withoutRead.length === 0 ? [] : limited,
    status.administrator_missing ? NO_ADMINISTRATOR : [],
    stuck.length === 0
      ? []
      : `no owner of these crates can do anything any more: ${stuck.join(', ')}; \`plimsoll owner add\` gives them another one, as does an administrator at \`/me\``,
  ].flat()
}

/** Says until when a registry is paused, and why. */
export function describePause({ until, place }: Pause): string {
  if (place !== null) return `paused: \`plimsoll migrate\` is copying the records to ${place}`
  return `paused until ${timestamp(new Date(until))}; \`plimsoll resume\` ends it`
}

/** Returns the space of the file systems of a registry, each one once. */
async function readDisks(dir: string, tree: string): Promise<DiskSpace[]> {
  const read = async (what: string, path: string) => {
    const { bavail, blocks, bsize } = await statfs(path)
    return { what, free: bavail * bsize, size: blocks * bsize }
  }
  const hasOne = !existsSync(tree) || (await stat(dir)).dev === (await stat(tree)).dev
  if (hasOne) return [await read('Disk', dir)]
  return [await read('Disk of the registry', dir), await read('Disk of the public tree', tree)]
}

/**
 * Returns what writes the git index, or null if it does not exist; why it does not exist or cannot
 * be written; and why Cargo cannot fetch it from a daemon on this machine.
 */
async function gitState({ tree, settings }: Registry) {
  const isThere = existsSync(tree.path(GIT_INDEX_FOLDER))
  const state = (engine: string | null, missing: string | null, problem: string | null = null) => {
    return { git_index: engine, git_index_missing: missing, git_index_problem: problem }
  }
  if (settings.git.index === 'off') return state(null, 'the setting `git.index` is "off"')
  const engineHere = await findEngine({ engine: settings.git.engine }).catch(refusalOnly)
  if (engineHere instanceof Refusal) return state(null, engineHere.message)
  const problem = (await fetchProblem())?.message ?? null
  if (isThere) return state(engineHere.name, null, problem)
  const missing = `not created yet; the daemon or \`plimsoll build\` creates it with ${engineHere.name}`
  return state(null, missing, problem)
}
