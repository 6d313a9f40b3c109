import { readFileSync, statSync } from 'node:fs'
import { ordered } from '../../core/async/ordered.ts'
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
import { sumOf } from '../places/disk/files.ts'
import type { Progress } from '../projections/context.ts'
import { dependencyContext, inspect } from '../registry/changes/check.ts'
import { sandbox } from '../sandbox/sandbox.ts'

/** What is not kept in memory, which would grow with it. */
export type Unkept = Pick<Release, 'readme' | 'files' | 'locked'>

/** A release as it was read. */
type ReadRelease = Omit<Release, keyof Unkept>

/** A release of a static tree, with `yanked` by the settings, and the path of its `.crate`. */
export type StaticRelease = ReadRelease & {
  readonly path: string
  /** Of a release that is yanked. */
  readonly yankReason?: string | null
}

/** A crate of a static tree: its releases, ordered by version. */
export type StaticCrate = readonly [StaticRelease, ...StaticRelease[]]

/** A release read from a `.crate`, null if it is refused, and its issues. */
export interface Inspected {
  readonly release: ReadRelease | null
  readonly issues: readonly Issue[]
}

/** A `.crate` file. `times` has its identity in the file system, too; '' if they prove nothing. */
export interface Source {
  readonly path: string
  readonly size: number
  readonly times: string
  readonly cksum: string
}

/** What earlier builds know of `.crate` files, by their paths, and by the checksums of bytes. */
export interface Inspections {
  source(path: string): Pick<Source, 'times' | 'cksum'> | undefined
  inspected(cksum: string): Promise<Inspected | null>
  keep(cksum: string, inspected: Inspected, rest: Unkept): Promise<void>
}

/** Coarsest timestamps of file systems (2 seconds in FAT), in milliseconds, with a margin. */
const CLOCK_TICK = 3000

/** The releases in a folder of `.crate` files. */
export class StaticReleases {
  /** All errors and warnings, each with its file. */
  readonly issues: Issue[] = []
  /** All files, and where there are bytes of a checksum. */
  readonly sources: Source[] = []
  readonly files = new Map<string, Pick<Source, 'path' | 'size'>>()
  readonly #crates = new Map<CanonicalName, Map<VersionIdentity, StaticRelease>>()
  readonly #settings: Settings
  readonly #urls: RegistryUrls
  readonly #inspections: Inspections | null

  constructor(settings: Settings, urls: RegistryUrls, inspections: Inspections | null = null) {
    this.#settings = settings
    this.#urls = urls
    this.#inspections = inspections
  }

  /** All crates, ordered by canonical name: their places in lists and search files follow it. */
  get crates(): StaticCrate[] {
    const byVersion = (a: StaticRelease, b: StaticRelease) => compareVersions(a.version, b.version)
    return [...this.#crates]
      .sort(([a], [b]) => compareText(a, b))
      .map(([, versions]) => [...versions.values()].sort(byVersion) as unknown as StaticCrate)
  }

  /** Adds `.crate` files, several of which are read at once; adds their issues to `issues`. */
  async add(paths: readonly string[], progress?: Progress): Promise<void> {
    let done = 0
    const read = async (path: string) => {
      const problem = await unreadable(path)
      if (problem)
        return { path, cksum: '', size: 0, inspected: { release: null, issues: [problem] } }
      const source = this.#sourceOf(path)
      const { cksum, size } = source
      const cached = await this.#inspections?.inspected(cksum)
      const inspected = cached ?? (await this.#inspect(source))
      return { path, cksum, size, inspected }
    }
    for await (const { path, cksum, size, inspected } of ordered(paths, sandbox.size, read)) {
      this.files.set(cksum, { path, size })
      this.#report(path, inspected.issues)
      if (inspected.release) this.#place({ ...inspected.release, path })
      progress?.('reading .crate files', ++done, paths.length)
    }
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
    // What gives a reason counts where a release is listed twice.
    const byReason = items.sort((a, b) => (a.reason === b.reason ? 0 : a.reason === null ? -1 : 1))
    const listed = new Map(byReason.map(item => [keyOf(item.version), item]))
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

  async #inspect({ path, size, cksum }: Source): Promise<Inspected> {
    const issues: Issue[] = []
    const max = this.#settings.limits.crate_bytes
    if (size > max) return { release: null, issues: [issue('crate_too_big', { max })] }
    const bytes = { content: path, size, cksum }
    const release = await inspect({ bytes, pubtime: null }, this.#settings, this.#urls, issues)
    if (!release || issues.some(problem => problem.severity === 'error'))
      return { release: null, issues }
    const { readme, files, locked, ...rest } = release
    // The last member of a path counts, as when the archive is listed.
    const last = new Map(files.map(file => [file.path, file]))
    const inspected = { release: rest, issues }
    await this.#inspections?.keep(cksum, inspected, {
      ...{ readme, locked },
      files: [...last.values()],
    })
    return inspected
  }

  /** Returns a file with its checksum; reads it only if it may have changed. */
  #sourceOf(path: string): Source {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stats) return refuse('file_missing', { path })
    const size = Number(stats.size)
    const times = [size, stats.mtimeNs, stats.ctimeNs, stats.ino, stats.dev].join(' ')
    // It is refused for its size.
    if (size > this.#settings.limits.crate_bytes) return { path, size, times, cksum: '' }
    const before = this.#inspections?.source(path)
    const isSame = before?.times === times
    const cksum = isSame ? before.cksum : sumOf('sha256', readFileSync(path))
    // A change within one tick of the file system's clock could leave the times unchanged.
    const isOld = Number(stats.ctimeMs) < Date.now() - CLOCK_TICK
    const source = { path, size, times: isOld ? times : '', cksum }
    this.sources.push(source)
    return source
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
