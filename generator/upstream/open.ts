import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { UPSTREAM_FOLDER } from '../../core/paths/upstream.ts'
import type { UpstreamSettings } from '../../core/settings/upstream.ts'
import type { Alarm } from '../../core/upstream/crate.ts'
import { isOnServer } from '../database/engine.ts'
import { CrateStore } from '../places/crate-store.ts'
import { FolderPlace } from '../places/folder-place.ts'
import type { ProcessMutex } from '../places/locks/process-mutex.ts'
import type { Place } from '../places/place.ts'
import { openBucket } from '../places/storage.ts'
import type { Registry } from '../registry/registry.ts'
import { Web } from '../web/web.ts'
import { keepAlarm } from './alarms.ts'
import { newCounts } from './counts.ts'
import { CrateFiles } from './crate-files.ts'
import { CrateIndex } from './crate-index.ts'
import { Decisions } from './decisions.ts'
import { Upstream, type UpstreamSource } from './upstream.ts'

/** The upstreams of a registry. */
export interface Upstreams {
  /** By name, in the order of the settings. */
  readonly byName: ReadonlyMap<string, Upstream>
  /** The one that answers for names that are not here; null without one. */
  readonly fallback: Upstream | null
  readonly decisions: Decisions
  close(): Promise<void>
}

/** Who opens upstreams. */
export interface UpstreamOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Told of each alarm, besides the file that is kept. */
  readonly onAlarm?: (upstream: string, alarm: Alarm) => void
}

/**
 * Opens the upstreams of a registry; connects to nothing yet. Upstreams with one index share what
 * is kept, in the storage of the first.
 */
export async function openUpstreams(
  registry: Registry,
  options: UpstreamOptions,
): Promise<Upstreams> {
  const { settings, database, clock, locks } = registry
  const decisions = new Decisions(database, clock)
  const byName = new Map<string, Upstream>()
  const sources = new Map<string, UpstreamSource>()
  const webs: Web[] = []
  const all = Object.values(settings.upstream)
  const mutex = all.length > 0 ? locks.mutex('upstream') : null
  for (const own of all) {
    let source = sources.get(own.index)
    if (!source) {
      const web = openWeb(own, registry, options)
      webs.push(web)
      source = await openSource(own, registry, options, web, mutex)
      sources.set(own.index, source)
    }
    byName.set(own.name, new Upstream(own, source, decisions, clock))
  }
  const fallback = [...byName.values()].find(one => one.settings.fallback !== 'off') ?? null
  const close = async () => {
    for (const web of webs) await web.close()
    await mutex?.close()
  }
  return { byName, fallback, decisions, close }
}

async function openSource(
  { name, index, storage }: UpstreamSettings,
  { dir, database, settings, clock }: Registry,
  { env, onAlarm }: UpstreamOptions,
  web: Web,
  mutex: ProcessMutex | null,
): Promise<UpstreamSource> {
  const url = index.replace(/^sparse\+/, '')
  const folder = resolve(dir, storage === '' ? join(UPSTREAM_FOLDER, name) : storage)
  const bucket = await openBucket(storage, settings.storage, env)
  const cache = bucket ? join(dir, 'cache', UPSTREAM_FOLDER, name) : folder
  const incoming = join(cache, 'incoming')
  const place: Place =
    bucket ?? new FolderPlace(folder, { sync: 'each', incoming, ...(mutex && { mutex }) })
  const counts = newCounts()
  const now = clock
  const alarm = async (alarm: Alarm) => {
    await keepAlarm(place, alarm)
    onAlarm?.(name, alarm)
  }
  const isShared = isOnServer(database)
  return {
    url,
    counts,
    place,
    index: new CrateIndex({ url, place, web, counts, isShared, now, onAlarm: alarm }),
    files: new CrateFiles({ url, store: new CrateStore(place, cache), web, counts, now }),
  }
}

function openWeb(
  { name, index, token_file: file }: UpstreamSettings,
  { dir, settings }: Registry,
  { env }: UpstreamOptions,
): Web {
  const { ca_file: caFile, contact } = settings.outgoing
  const token = file === null ? undefined : readToken(name, resolve(dir, file))
  const web = new Web({ caFile, contact, env }, token)
  web.trust(index.replace(/^sparse\+/, ''))
  return web
}

function readToken(upstream: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return refuse('upstream_token', { upstream, path, reason })
  }
}
