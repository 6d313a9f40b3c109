// generator/upstream: The crates of other registries, fetched and kept. Daemon and commands call
// it; it never publishes one.
import { join, resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { indexUrlKey, isCratesIo } from '../../core/index-url.ts'
import { UPSTREAM_FOLDER } from '../../core/paths/upstream.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { UpstreamSettings } from '../../core/settings/upstream.ts'
import { isOfCratesIo } from '../../core/upstream/cargo-config.ts'
import type { Alarm } from '../../core/upstream/crate.ts'
import { CrateStore } from '../places/crate-store.ts'
import { readNamedSync } from '../places/disk/files.ts'
import { FolderPlace } from '../places/folder-place.ts'
import { FileMutex } from '../places/locks/lock.ts'
import type { Place } from '../places/place.ts'
import { openBucket } from '../places/storage.ts'
import { lastChange } from '../records/marks.ts'
import type { Registry } from '../registry/registry.ts'
import { Web, type WebOptions } from '../web/web.ts'
import { recordEvents } from '../webhooks/events.ts'
import { isLasting, keepAlarm } from './alarms.ts'
import { UpstreamCounts } from './counts.ts'
import { CrateFiles, type CrateFilesOptions } from './crate-files.ts'
import { CrateIndex, type CrateIndexOptions } from './crate-index.ts'
import { Upstream, type UpstreamSource } from './upstream.ts'

export type Upstreams = Awaited<ReturnType<typeof openUpstreams>>

export interface UpstreamOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with each alarm; the kept file has it, too. */
  readonly onAlarm?: (upstream: string, alarm: Alarm) => void
  readonly limits?: UpstreamLimits
}

export type UpstreamLimits = Pick<WebOptions, 'pause' | 'silenceMs'> &
  Pick<CrateFilesOptions, 'waitMs' | 'crateMax'> &
  Pick<CrateIndexOptions, 'requestMs'>

/**
 * Opens the upstreams of a registry; connects to nothing yet. Upstreams with one index share what
 * is kept, in the storage of the first.
 */
export async function openUpstreams(registry: Registry, options: UpstreamOptions) {
  const { crates, dir, settings, tree } = registry
  const shared = tree.shared ?? tree.mirror?.bucket
  const taken = [crates.place.name, tree.root, shared?.name ?? []].flat()
  const byName = new Map<string, Upstream>()
  // Once for those with one index.
  const sources = new Map<string, UpstreamSource>()
  // Not of the registry: a pause of changes holds up no reader.
  const mutex = new FileMutex(join(dir, 'locks', 'upstream.lock'))
  for (const own of Object.values(settings.upstream)) {
    const place = await openUpstreamPlace(own, dir, settings.storage, options.env, mutex)
    requireOwnPlace(own.name, place.name, taken)
    taken.push(place.name)
    const source = sources.get(own.index) ?? openSource(own, registry, options, place)
    sources.set(own.index, source)
    byName.set(own.name, new Upstream(own, source, place, registry))
  }
  const opened = [...byName.values()]
  // The one that is meant where none is named.
  const usual = opened.find(({ settings }) => settings.fallback !== 'off') ?? opened[0] ?? null
  const close = async () => {
    for (const source of sources.values()) await source.close()
    await mutex.close()
  }
  /** Returns the upstream whose crates a lock file names by an index URL; null for none. */
  const ofSource = (source: string) => {
    const key = indexUrlKey(source)
    // Lock files name crates.io whatever replaces it.
    if (isCratesIo(source)) return opened.find(each => isOfCratesIo(each.settings)) ?? usual
    return opened.find(({ settings }) => indexUrlKey(settings.index) === key) ?? null
  }
  return { byName, sources: [...sources.values()], usual, ofSource, close }
}

/** Refuses a storage that lies in another place with files, or has one in itself. */
function requireOwnPlace(name: string, place: string, taken: readonly string[]): void {
  const isIn = (inner: string, outer: string) => `${inner}/`.startsWith(`${outer}/`)
  const other = taken.find(each => isIn(place, each) || isIn(each, place))
  if (other !== undefined) refuse('upstream_storage', { name, place, other })
}

/** Opens the storage of an upstream; a folder is written with conditions only with a mutex. */
export async function openUpstreamPlace(
  { name, storage }: Pick<UpstreamSettings, 'name' | 'storage'>,
  dir: string,
  buckets: Settings['storage'],
  env: UpstreamOptions['env'],
  mutex?: FileMutex,
): Promise<Place> {
  const bucket = await openBucket(storage, buckets, env)
  if (bucket) return bucket
  const folder = resolve(dir, storage === '' ? join(UPSTREAM_FOLDER, name) : storage)
  const incoming = join(folder, 'incoming')
  return new FolderPlace(folder, { sync: 'each', incoming, ...(mutex && { mutex }) })
}

function openSource(
  { name, index }: UpstreamSettings,
  registry: Registry,
  options: UpstreamOptions,
  place: Place,
): UpstreamSource {
  const { dir, isShared, settings, clock: now } = registry
  const { env, onAlarm: tell, limits } = options
  const url = index.slice('sparse+'.length)
  const { ca_file: caFile, contact } = settings.outgoing
  const sharing = Object.values(settings.upstream).filter(upstream => upstream.index === index)
  // Whichever of them has one.
  const [token] = sharing.flatMap(({ name, token_file: file }) =>
    file === null ? [] : [readToken(name, resolve(dir, file))],
  )
  const openWeb = () => {
    const web = new Web({ caFile, contact, env, ...limits }, token)
    web.trust(url)
    for (const { feed } of sharing) if (feed !== '') web.trust(feed, false)
    return web
  }
  // Slow downloads would take all connections to a server from the index.
  const [web, downloads] = [openWeb(), openWeb()]
  const cache = place.local ? place.name : join(dir, 'cache', UPSTREAM_FOLDER, name)
  const store = new CrateStore(place, cache)
  const counts = new UpstreamCounts()
  const onAlarm = async (alarm: Alarm) => {
    const isFirst = await keepAlarm(place, alarm, () =>
      registry.database.transaction(async tx => {
        const { kind, version, at, name: crate } = alarm
        const told = [{ type: 'upstream.alarm', version, upstream: name, kind } as const]
        const generation = await lastChange(tx)
        await recordEvents(tx, told, { at, generation, crate: { id: null, name: crate } })
      }),
    )
    // An alarm that comes again and again counts once.
    if (isLasting(alarm) && !isFirst) return
    counts.alarms.set(alarm.kind, (counts.alarms.get(alarm.kind) ?? 0) + 1)
    tell?.(name, alarm)
  }
  return {
    ...{ name, counts, place, web, onAlarm },
    index: new CrateIndex({ url, place, web, counts, isShared, now, onAlarm, ...limits }),
    files: new CrateFiles({ url, store, web: downloads, counts, now, ...limits }),
    close: async () => {
      for (const each of [web, downloads]) await each.close()
    },
  }
}

function readToken(upstream: string, path: string): string {
  try {
    const token = readNamedSync(path).trim()
    if (/^[\x20-\x7e]+$/.test(token)) return token
    throw new Error('it has to be one line of ASCII')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return refuse('upstream_token', { upstream, path, reason })
  }
}
