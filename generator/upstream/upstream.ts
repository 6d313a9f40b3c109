import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { refuse } from '../../core/error/error.ts'
import { canonicalName, isName, type Name } from '../../core/name.ts'
import {
  type CrateFile,
  UPSTREAM_DL,
  UPSTREAM_FOLDER,
  upstreamCratePath,
} from '../../core/paths/upstream.ts'
import type { UpstreamSettings } from '../../core/settings/upstream.ts'
import { sha256 } from '../../core/sha256.ts'
import { gather } from '../../core/tarball/bytes.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { UpstreamCrate } from '../../core/upstream/crate.ts'
import { explainCrate, type VersionState } from '../../core/upstream/explain.ts'
import { readLine, type UpstreamLine, type WantedVersion } from '../../core/upstream/line.ts'
import {
  deniedBy,
  type ShownFile,
  showFile,
  type UpstreamPolicy,
} from '../../core/upstream/policy.ts'
import { parseRule } from '../../core/upstream/rules.ts'
import { paced } from '../database/pace.ts'
import type { Place } from '../places/place.ts'
import { findCrate } from '../records/crates.ts'
import type { Registry } from '../registry/registry.ts'
import type { Web } from '../web/web.ts'
import type { CrateFiles } from './crate-files.ts'
import type { CrateIndex, CrateIndexOptions, FoundCrate } from './crate-index.ts'
import { readPolicy } from './decisions.ts'
import { LookAhead } from './look-ahead.ts'
import { FREE, type Spend } from './refusal.ts'

const compress = promisify(gzip)

/** What upstreams with one index share: lines, `.crate` files and counts. */
export interface UpstreamSource extends Pick<CrateIndexOptions, 'place' | 'counts' | 'onAlarm'> {
  /** The first upstream with this index, whose storage has the files. */
  readonly name: string
  readonly web: Pick<Web, 'read'>
  readonly index: CrateIndex
  readonly files: CrateFiles
  close(): Promise<void>
}

/** An index file as it is answered, and what it was made of. */
export interface ShownIndexFile extends Pick<ShownFile, 'until' | 'undated'> {
  readonly bytes: Buffer
  readonly zipped: Buffer
  /** Of these bytes, without quotes. */
  readonly tag: string
  /** The versions that are exempted, and the advisories, as text. */
  readonly decided: string
  /** When it was rendered. */
  readonly at: Date
}

type FoundCrateFile = CrateFile & { readonly size: number }

/** An upstream: the crates of another registry, by the rules of a section `[upstream.NAME]`. */
export class Upstream {
  readonly settings: UpstreamSettings
  readonly source: UpstreamSource
  /** Where its own tree is rendered. */
  readonly place: Place
  readonly #registry: Registry
  readonly rules: Pick<UpstreamPolicy, 'allow' | 'deny'>
  /** The rules that match no version known here, when they were last looked at, for the page. */
  unmatched: readonly string[] = []
  /** The index files of the crates that the index holds in memory, for as long as it does. */
  readonly #rendered = new WeakMap<UpstreamCrate, ShownIndexFile>()
  readonly #ahead = new LookAhead(this)

  constructor(
    settings: UpstreamSettings,
    source: UpstreamSource,
    place: Place,
    registry: Registry,
  ) {
    this.settings = settings
    this.source = source
    this.place = place
    this.#registry = registry
    const rules = (list: 'allow' | 'deny') =>
      settings[list].map(text => parseRule(text, list)).filter(rule => rule !== null)
    this.rules = { allow: rules('allow'), deny: rules('deny') }
  }

  get name(): string {
    return this.settings.name
  }

  /** Returns its `config.json`, for `.crate` files at an upstream; nothing is published to it. */
  config(at = this.name): string {
    const { urls, authRequired } = this.#registry
    const dl = `${urls.base}/${UPSTREAM_FOLDER}/${at}/${UPSTREAM_DL}`
    return `${JSON.stringify(authRequired ? { dl, 'auth-required': true } : { dl })}\n`
  }

  /**
   * Returns the index file of a crate, and since when the upstream has not confirmed it; null when
   * there is no such crate. Refuses a crate that nobody knows while the upstream is away. What it
   * asks the upstream for, also ahead, the caller has to `spend`.
   */
  async indexFile(
    name: Name,
    spend: Spend = FREE,
  ): Promise<{ readonly file: ShownIndexFile; readonly staleSince: number | null } | null> {
    const { crate, staleSince } = await this.crate(name, false, spend)
    if (!crate) return null
    const file = await this.#show(name, crate)
    if (!this.settings.offline) this.#ahead.begin(crate, spend)
    return file.bytes.length === 0 ? null : { file, staleSince }
  }

  /** Returns whether a crate is known well enough to be shown without asking the upstream. */
  isFresh(name: Name): boolean {
    return this.settings.offline || this.source.index.isFresh(name, this.settings.fresh * 1000)
  }

  /** Returns whether a name is that of a crate here, or reserved for one: no upstream learns it. */
  async isOwnName(name: Name): Promise<boolean> {
    const { database, settings } = this.#registry
    const prefixes = settings.policy.reserved_prefixes.filter(isName).map(canonicalName)
    const isReserved = prefixes.some(prefix => canonicalName(name).startsWith(prefix))
    return isReserved || (await findCrate(database, name)) !== null
  }

  /** Returns the index file of a crate by what is kept of it; null if nothing is. */
  async keptIndexFile(name: Name): Promise<ShownIndexFile | null> {
    const crate = await this.source.index.kept(name)
    return crate && this.#show(name, crate)
  }

  /** Returns the line of a version, with its checksum if that is known; null without one. */
  async line(wanted: WantedVersion, spend = FREE): Promise<UpstreamLine | null> {
    const kept = lineOf(await this.source.index.kept(wanted.name), wanted)
    return kept ?? lineOf((await this.crate(wanted.name, false, spend)).crate, wanted)
  }

  /**
   * Returns what is known of a crate, as fresh as the settings want. A name that is for crates here
   * is asked for only if that `isMeant`, or if lines of the upstream's crate are here already.
   */
  async crate(name: Name, isMeant = false, spend = FREE): Promise<FoundCrate> {
    const { index } = this.source
    if (this.settings.offline) return { crate: await index.kept(name, true), staleSince: null }
    if (!isMeant && (await this.isOwnName(name)) && !(await index.kept(name, true)))
      return { crate: null, staleSince: null }
    return index.find(name, this.settings.fresh * 1000, spend)
  }

  /** Returns the `.crate` of a version if it is here; refuses a denied version by its rule. */
  async keptCrateFile(wanted: WantedVersion): Promise<FoundCrateFile | null> {
    const { name, version, cksum } = wanted
    const rule = deniedBy(wanted, await this.policy(name))
    if (rule) refuse('upstream_denied', { name, version, rule, upstream: this.name })
    const { counts, files, index } = this.source
    const line = cksum === null ? lineOf(await index.kept(name), wanted) : { ...wanted, cksum }
    const size = line?.name === name ? await files.size(line) : null
    if (!line || size === null) return null
    counts.hits++
    return { ...line, size }
  }

  /**
   * Does the same, and fetches a `.crate` that is not here; null when the upstream has none.
   * Refuses one that is slow to come, unless the caller `isPatient`.
   */
  async crateFile(
    wanted: WantedVersion,
    isPatient = false,
    spend = FREE,
  ): Promise<FoundCrateFile | null> {
    const kept = await this.keptCrateFile(wanted)
    const line = kept ? null : await this.line(wanted, spend)
    if (line?.name !== wanted.name) return kept
    if (this.settings.offline) return this.keptCrateFile(line)
    return { ...line, size: await this.source.files.fetch(line, isPatient, spend) }
  }

  /** Returns the line and the bytes of a version, for an export; null without one. */
  async find(wanted: WantedVersion) {
    const line = await this.line(wanted)
    const file = line && (await this.crateFile(line, true))
    const opened = file && (await this.source.files.store.open(upstreamCratePath(file)))
    return opened && { line: line.text, bytes: Buffer.from(await gather(opened.bytes)) }
  }

  /** The number of versions in memory that are held because nobody knows their age. */
  get undated(): number {
    const files = this.source.index.held.map(crate => this.#rendered.get(crate))
    return files.reduce((sum, file) => sum + (file?.undated ?? 0), 0)
  }

  /** Returns how each version of a crate is shown; null when there is no such crate. */
  async explain(name: Name, isMeant = false, spend = FREE): Promise<VersionState[] | null> {
    const { crate } = await this.crate(name, isMeant, spend)
    if (!crate) return null
    const policy = await this.policy(name)
    return paced(() => explainCrate(this.name, crate, policy, this.#registry.clock()))
  }

  /** Renders an index file, or returns it as it was rendered before if nothing has changed. */
  async #show(name: Name, crate: UpstreamCrate): Promise<ShownIndexFile> {
    const policy = await this.policy(name)
    const decided = JSON.stringify([[...policy.allowed], policy.advisories.known])
    const now = this.#registry.clock()
    const before = this.#rendered.get(crate)
    // A clock that was set back may hold again what was no longer held.
    const isCurrent = before && before.at <= now && (before.until ?? Infinity) > now.getTime()
    const isSame = isCurrent && before.decided === decided
    // Offline, another process may have brought a `.crate`.
    if (isSame && !this.settings.offline) return before
    const isThere = await this.#isThere(crate)
    const { text, lure, ...shown } = await paced(() => showFile(crate, policy, now, isThere))
    const bytes = Buffer.from(text)
    const tag = sha256(bytes).slice(0, 32)
    const rendered = { decided, ...shown, at: now, bytes, tag, zipped: await compress(bytes) }
    this.#rendered.set(crate, rendered)
    if (lure) {
      const { name, version } = lure
      await this.source.onAlarm({ kind: 'lure', name, version, at: timestamp(now) })
    }
    return rendered
  }

  /** Returns whether a line is shown: offline, only if its `.crate` is here. */
  async #isThere(crate: UpstreamCrate): Promise<(line: UpstreamLine) => boolean> {
    if (!this.settings.offline) return () => true
    const there = new Set<UpstreamLine>()
    await forEachConcurrently(crate.lines.values(), async line => {
      if ((await this.source.files.size(line)) !== null) there.add(line)
    })
    return line => there.has(line)
  }

  /** Returns the rules for a crate, as they are now. */
  policy(name: Name): Promise<UpstreamPolicy> {
    return readPolicy(this.#registry.database, this.settings, this.rules, name)
  }
}

function lineOf(
  crate: UpstreamCrate | null,
  { version, cksum }: WantedVersion,
): UpstreamLine | null {
  const line = crate?.lines.get(version)
  if (!line) return null
  const claim = crate?.sightings.get(version)?.claim
  const lines = claim === undefined ? [line] : [line, readLine(claim)]
  return lines.find(each => cksum === null || each.cksum === cksum) ?? null
}
