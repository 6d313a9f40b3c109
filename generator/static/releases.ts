import { statSync } from 'node:fs'
import { compareText } from '../../core/entry/entry.ts'
import { type Issue, inFile, issue, refuse } from '../../core/error/error.ts'
import { type CanonicalName, canonicalName, isName, type Name } from '../../core/name.ts'
import { deprecatedItem, parseDeprecated, yankedItem } from '../../core/notes/notes.ts'
import { crateFilePath } from '../../core/paths/crates.ts'
import { checkPolicy } from '../../core/policy/policy.ts'
import type { Release } from '../../core/release/release.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { OwnDl } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import { compareVersions, type VersionIdentity, versionIdentity } from '../../core/version.ts'
import { unreadable } from '../places/disk/crate-files.ts'
import { fileChecksum } from '../places/disk/files.ts'
import { filesKey } from '../projections/crates/source.ts'
import { dependencyContext, inspect } from '../registry/changes/check.ts'
import type { BuildCache } from './cache.ts'

/** A release as it was read, without what only the list of its files shows. */
type ReadRelease = Omit<Release, 'files'>

/** A release of a static tree, with `yanked` by the settings, and the path of its `.crate`. */
export type StaticRelease = ReadRelease & {
  readonly path: string
  /** Of a release that is yanked. */
  readonly yankReason?: string | null
}

/** A crate of a static tree: its releases, ordered by version. */
export type StaticCrate = readonly [StaticRelease, ...StaticRelease[]]

/** A release read from a `.crate`, null if it is refused, and its issues. */
interface Inspected {
  readonly release: ReadRelease | null
  readonly issues: readonly Issue[]
}

interface FileStamp {
  readonly size: number
  /** Its times, and its identity in the file system. */
  readonly times: string
  readonly cksum: string
}

/** Coarsest timestamps of file systems (2 seconds in FAT), in milliseconds, with a margin. */
const CLOCK_TICK = 3000

/** The releases in a folder of `.crate` files. */
export class StaticReleases {
  /** All errors and warnings, each with its file. */
  readonly issues: Issue[] = []
  readonly #crates = new Map<CanonicalName, Map<VersionIdentity, StaticRelease>>()
  readonly #settings: Settings
  readonly #urls: RegistryUrls
  readonly #cache: BuildCache

  constructor(settings: Settings, urls: RegistryUrls, cache: BuildCache) {
    this.#settings = settings
    this.#urls = urls
    this.#cache = cache
  }

  /** All crates, ordered by canonical name: their places in lists and search files follow it. */
  get crates(): StaticCrate[] {
    const byVersion = (a: StaticRelease, b: StaticRelease) => compareVersions(a.version, b.version)
    return [...this.#crates]
      .sort(([a], [b]) => compareText(a, b))
      .map(([, versions]) => [...versions.values()].sort(byVersion) as unknown as StaticCrate)
  }

  /** Adds a `.crate` file; adds its errors and warnings to `issues`. */
  async put(path: string): Promise<void> {
    const problem = await unreadable(path)
    if (problem) return this.#report(path, [problem])
    const { size, cksum } = await this.#read(path)
    const inspected =
      this.#cache.get<Inspected>(`crate ${cksum}`) ?? (await this.#inspect(path, size, cksum))
    this.#report(path, inspected.issues)
    if (inspected.release) this.#place({ ...inspected.release, path })
  }

  /**
   * Applies the policy, for which every crate must be known, and yanks. With `skipBad`, removes
   * releases that the policy refuses, also for lack of a removed dependency. `elsewhere`: the names
   * of the crates that these are added to; null when there are no others.
   */
  check(skipBad: boolean, elsewhere: ReadonlyMap<CanonicalName, Name> | null = null): void {
    // Another spelling, or a version without its build metadata, means the same release.
    const keyOf = (spec: string) => {
      const [name = '', version] = spec.split(/[@+]/)
      return `${canonicalName(name)}@${version}`
    }
    const items = this.#settings.yanked.map(yankedItem).filter(item => item !== null)
    const listed = new Map(items.map(item => [keyOf(item.version), item]))
    const warnings = new Map<StaticRelease, readonly Issue[]>()
    for (let isStable = false; !isStable; ) {
      isStable = true
      for (const versions of this.#crates.values()) {
        for (const [identity, release] of versions) {
          const context = {
            existing: null,
            lookAlikes: [],
            ...dependencyContext(release, name => {
              const canonical = canonicalName(name)
              return this.#spelling(canonical) ?? elsewhere?.get(canonical)
            }),
          }
          const { issues } = checkPolicy(release, context, this.#settings.policy)
          warnings.set(release, issues)
          if (!skipBad || !issues.some(problem => problem.severity === 'error')) continue
          versions.delete(identity)
          isStable = false
        }
      }
    }
    for (const [{ path }, issues] of warnings) this.#report(path, issues)
    for (const [canonical, versions] of this.#crates) {
      if (versions.size === 0) this.#crates.delete(canonical)
      for (const [identity, release] of versions) {
        const key = keyOf(`${release.name}@${release.version}`)
        const item = listed.get(key)
        const yanked = listed.delete(key)
        const why = item && { yankReason: item.reason }
        versions.set(identity, { ...release, ...why, entry: { ...release.entry, yanked } })
      }
    }
    if (elsewhere !== null) return
    for (const { version: spec } of listed.values())
      this.issues.push(issue('yanked_unknown', { spec }))
    const isHere = (name: string) => !isName(name) || this.#crates.has(canonicalName(name))
    for (const item of this.#settings.deprecated.map(deprecatedItem))
      for (const name of [parseDeprecated(item?.crate ?? '').name, item?.use ?? ''])
        if (!isHere(name)) this.issues.push(issue('deprecated_unknown', { name }))
  }

  async #inspect(path: string, size: number, cksum: string): Promise<Inspected> {
    const issues: Issue[] = []
    const max = this.#settings.limits.crate_bytes
    if (size > max) return { release: null, issues: [issue('crate_too_big', { max })] }
    const bytes = { content: path, size, cksum }
    const release = await inspect({ bytes, pubtime: null }, this.#settings, this.#urls, issues)
    if (!release || issues.some(problem => problem.severity === 'error'))
      return { release: null, issues }
    const { files, ...rest } = release
    // The last member of a path counts, as when the archive is listed.
    const last = new Map(files.map(file => [file.path, file]))
    this.#cache.know(filesKey(cksum), [...last.values()])
    // Converted as in the cache, so that the result is the same with and without it.
    const inspected = JSON.parse(JSON.stringify({ release: rest, issues })) as Inspected
    this.#cache.set(`crate ${cksum}`, inspected)
    return inspected
  }

  /** Returns size and checksum of a file; reads it only if it may have changed. */
  async #read(path: string): Promise<FileStamp> {
    const key = `file ${path}`
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stats) return refuse('file_missing', { path })
    const times = [stats.mtimeNs, stats.ctimeNs, stats.ino, stats.dev].join(' ')
    // It is refused for its size.
    if (stats.size > this.#settings.limits.crate_bytes)
      return { size: Number(stats.size), times, cksum: '' }
    const cached = this.#cache.get<FileStamp>(key)
    if (cached && cached.times === times) return cached
    const cksum = await fileChecksum(path)
    if (cksum === null) return refuse('file_missing', { path })
    const stamp = { size: Number(stats.size), times, cksum }
    // A change within one tick of the file system's clock could leave the times unchanged.
    if (Number(stats.ctimeMs) < Date.now() - CLOCK_TICK) this.#cache.set(key, stamp)
    else this.#cache.delete(key)
    return stamp
  }

  #spelling(canonical: CanonicalName): Release['name'] | undefined {
    return this.#crates.get(canonical)?.values().next().value?.name
  }

  #place(release: StaticRelease): void {
    const { name, version, path } = release
    const canonical = canonicalName(name)
    const spelling = this.#spelling(canonical) ?? name
    if (spelling !== name) {
      this.#report(path, [issue('name_twins', { first: spelling, second: name })])
      return
    }
    const versions = this.#crates.get(canonical) ?? new Map<VersionIdentity, StaticRelease>()
    this.#crates.set(canonical, versions)
    const identity = versionIdentity(version)
    const twin = versions.get(identity)
    if (!twin) versions.set(identity, release)
    else if (twin.entry.cksum !== release.entry.cksum)
      this.#report(path, [issue('twin_files', { first: twin.path, second: path, version })])
  }

  #report(path: string, issues: readonly Issue[]): void {
    this.issues.push(...issues.map(problem => inFile(path, problem)))
  }
}

/** Returns where a tree without a daemon has a `.crate`: where its own `dl` leads. */
export function packagePath({ name, version, entry }: StaticRelease, dl: OwnDl | null): string {
  return dl?.pathOf({ name, version, cksum: entry.cksum }) ?? crateFilePath(name, version)
}
