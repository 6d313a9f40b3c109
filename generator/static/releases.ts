import { createReadStream } from 'node:fs'
import { type Issue, issue, refuse, warning } from '../../core/error/error.ts'
import { type CanonicalName, canonicalName, type Name } from '../../core/name.ts'
import { checkPolicy, policyQuestions } from '../../core/policy/policy.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { RegistryUrls } from '../../core/urls.ts'
import { type VersionIdentity, versionIdentity } from '../../core/version.ts'
import { inspect } from '../add/add.ts'
import { fileChecksum, fileFacts } from '../store/durable-file.ts'
import type { Inspected, InspectionCache } from './cache.ts'

interface Found {
  readonly path: string
  readonly release: Inspected['release']
}

/** All releases among a folder's `.crate` files: crates by canonical name, releases by version identity. */
export class StaticReleases {
  readonly crates = new Map<CanonicalName, Map<VersionIdentity, Found>>()
  /** Everything to object to or to warn of, with the file that gives reason to. */
  readonly issues: Issue[] = []
  readonly #settings: Settings
  readonly #urls: RegistryUrls
  readonly #cache: InspectionCache

  constructor(settings: Settings, urls: RegistryUrls, cache: InspectionCache) {
    this.#settings = settings
    this.#urls = urls
    this.#cache = cache
  }

  /** Takes a `.crate` file in; what is wrong with it is among the `issues`. */
  async put(path: string): Promise<void> {
    const [facts, cksum] = [await fileFacts(path), await fileChecksum(path)]
    if (!facts || cksum === null) return refuse('file_missing', { path })
    const bytes = { size: facts.size, cksum, open: () => createReadStream(path) }
    const found = await this.#cache.get(cksum, async () => {
      const issues: Issue[] = []
      const release = await inspect({ bytes, pubtime: null }, this.#settings, this.#urls, issues)
      if (release && !issues.some(one => one.severity === 'error')) {
        const { files, ...rest } = release
        return { release: rest, warnings: issues }
      }
      this.#object(path, issues)
      return undefined
    })
    if (!found) return
    this.#object(path, found.warnings)
    this.#place({ path, release: found.release })
  }

  /** Applies the policy, for which every crate has to be known. */
  check(): void {
    const listed = new Set(this.#settings.yanked)
    for (const versions of this.crates.values()) {
      for (const { path, release } of versions.values()) {
        listed.delete(`${release.name}@${release.version}`)
        const { ownDependencies, cratesIoDependencies } = policyQuestions(release)
        const missing = ownDependencies.filter(name => this.#spelling(name) !== name)
        const facts = {
          existing: null,
          lookAlikes: [],
          missingDependencies: missing,
          otherSpellings: missing
            .map(name => this.#spelling(name))
            .filter(name => name !== undefined),
          alsoHere: cratesIoDependencies.filter(name => this.#spelling(name) !== undefined),
        }
        this.#object(path, checkPolicy(release, facts, this.#settings.policy).issues)
      }
    }
    for (const spec of listed) this.issues.push(issue('yanked_unknown', { spec }))
  }

  #spelling(name: Name): Name | undefined {
    return this.crates.get(canonicalName(name))?.values().next().value?.release.name
  }

  #place(found: Found): void {
    const { release, path } = found
    const canonical = canonicalName(release.name)
    const versions = this.crates.get(canonical) ?? new Map<VersionIdentity, Found>()
    this.crates.set(canonical, versions)
    const [sibling] = versions.values()
    if (sibling && sibling.release.name !== release.name) {
      this.#object(path, [
        issue('name_twins', { first: sibling.release.name, second: release.name }),
      ])
    }
    const identity = versionIdentity(release.version)
    const twin = versions.get(identity)
    if (!twin) versions.set(identity, found)
    else if (twin.release.entry.cksum !== release.entry.cksum) {
      this.#object(path, [
        issue('twin_files', { first: twin.path, second: path, version: release.version }),
      ])
    }
  }

  #object(path: string, issues: readonly Issue[]): void {
    for (const { severity, message } of issues) {
      this.issues.push((severity === 'error' ? issue : warning)('broken_file', { path, message }))
    }
  }
}
