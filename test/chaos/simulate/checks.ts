import { parseName } from '../../../core/name.ts'
import { crateFilePath, crateKey } from '../../../core/paths/crates.ts'
import { indexPath } from '../../../core/paths/tree.ts'
import { parseVersion } from '../../../core/version.ts'
import type { ObjectStorage } from '../../support/s3/storage.ts'
import { shown } from '../driver/history.ts'
import { checksum, parseIndex } from '../driver/lines.ts'
import { ensure } from '../run.ts'
import type { Server } from './postgres/server.ts'

/** The prefixes of the buckets. */
export const CRATES = 'crates/'
export const PUBLIC = 'public/'

/** A release as the records have it. */
interface Release {
  readonly name: string
  readonly version: string
  readonly yanked: number
  readonly cksum: string
}

const RELEASES = `SELECT name, version, yanked, cksum FROM releases
  JOIN crates ON crates.id = crate_id ORDER BY releases.id`
const URGENT = `SELECT kind, subject, generation, attempts, error FROM marks
  WHERE kind IN ('index', 'whole', 'file')`

/**
 * Invariants, checked after each commit and each change of the bucket: bytes are there before their
 * record, readers of the bucket find the `.crate` of every line, and no index file is replaced by
 * one rendered from older records, except by a writer who asked for its ETag when it had the same
 * bytes before.
 */
export class Checks {
  readonly #server: Server
  readonly #storage: ObjectStorage
  /** The states of each crate since its beginning, in the order of the commits. */
  readonly #states = new Map<string, string[]>()
  /** The rendering that the bucket has. */
  readonly #rendered = new Map<string, number>()
  #releases = 0
  /** Number of index files that became older because earlier bytes had returned. */
  older = 0

  constructor(server: Server, storage: ObjectStorage) {
    this.#server = server
    this.#storage = storage
  }

  /** After a commit. */
  committed(): void {
    const releases = this.releases()
    for (const { name, cksum } of releases.slice(this.#releases)) {
      const key = `${CRATES}${crateKey(parseName(name), cksum)}`
      ensure(this.#storage.objects.has(key), `${name} is recorded without its bytes ${key}`)
    }
    this.#releases = releases.length
    for (const name of new Set(releases.map(release => release.name))) {
      const states = this.#states.get(name) ?? []
      const state = shownReleases(releases.filter(release => release.name === name))
      if (states.at(-1) !== state) states.push(state)
      this.#states.set(name, states)
    }
  }

  /** After a change of an object. */
  changed(key: string): void {
    const object = this.#storage.objects.get(key)
    if (key.startsWith(CRATES)) return void this.#crateChanged(key, object?.bytes)
    if (!key.startsWith(`${PUBLIC}index/`) || key === `${PUBLIC}index/config.json`) return
    const name = key.slice(key.lastIndexOf('/') + 1)
    ensure(object, `the index file of ${name} is removed`)
    const lines = parseIndex(name, object.bytes.toString())
    for (const { vers, cksum } of lines) {
      const path = crateFilePath(parseName(name), parseVersion(vers))
      const crate = this.#storage.objects.get(`${PUBLIC}${path}`)
      ensure(crate, `readers of the bucket see ${name} ${vers} without its .crate`)
      ensure(checksum(crate.bytes) === cksum, `the bucket has other bytes for ${name} ${vers}`)
    }
    const states = this.#states.get(name) ?? []
    const state = shown(lines.map(line => [line.vers, line.yanked] as const))
    const before = this.#rendered.get(name) ?? 0
    const at = states.indexOf(state, before)
    const isOlder = at < 0 && states.includes(state)
    const wasThere = states.indexOf(states[before] ?? '') < before
    const age = isOlder ? 'an older state' : 'no state'
    const words = `the index file of ${name} has ${age} of the records: ${state}`
    ensure(at >= 0 || (isOlder && wasThere), words)
    if (isOlder) this.older++
    this.#rendered.set(name, isOlder ? states.indexOf(state) : at)
  }

  /** Fails unless the bucket matches the records; for the end, when all is quiet. */
  atRest(): void {
    const releases = this.releases()
    for (const name of new Set(releases.map(release => release.name))) {
      const own = releases.filter(release => release.name === name)
      const key = `${PUBLIC}${indexPath(parseName(name))}`
      const index = this.#storage.objects.get(key)
      ensure(index, `${name} has no index file`)
      const lines = parseIndex(name, index.bytes.toString())
      const state = shown(lines.map(line => [line.vers, line.yanked] as const))
      ensure(
        state === shownReleases(own),
        `the index file of ${name} has ${state}, the records ${shownReleases(own)}`,
      )
      for (const { version, cksum } of own) {
        const stored = this.#storage.objects.get(`${CRATES}${crateKey(parseName(name), cksum)}`)
        ensure(stored, `the bytes of ${name} ${version} are gone`)
        ensure(checksum(stored.bytes) === cksum, `the bytes of ${name} ${version} are others`)
      }
    }
  }

  /** The releases as they are committed. */
  releases(): Release[] {
    return [...(this.#server.readers.execute(RELEASES, []).rows ?? [])] as unknown as Release[]
  }

  /** Unrendered work that publishes wait for. */
  urgent(): readonly Readonly<Record<string, unknown>>[] {
    return this.#server.readers.execute(URGENT, []).rows ?? []
  }

  #crateChanged(key: string, bytes: Buffer | undefined): void {
    const sum = /([0-9a-f]{64})\.crate$/.exec(key)?.[1]
    if (sum === undefined) return
    if (bytes) return void ensure(checksum(bytes) === sum, `other bytes are stored as ${key}`)
    const lost = this.releases().find(release => release.cksum === sum)
    ensure(!lost, `the bytes of ${lost?.name} ${lost?.version} are removed`)
  }
}

function shownReleases(releases: readonly Release[]): string {
  return shown(releases.map(release => [release.version, release.yanked !== 0] as const))
}
