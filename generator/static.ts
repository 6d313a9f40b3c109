import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { inspect } from './add.ts'
import type { Progress } from './build.ts'
import type { CrateBytes } from './crate-store.ts'
import { renderEntry } from './entry.ts'
import { type Issue, issue, refuse, refuseErrors, warning } from './error.ts'
import { type CanonicalName, canonicalName, type Name } from './name.ts'
import { CRATES_FOLDER, configPlace, cratePlace, INDEX_FOLDER } from './paths.ts'
import { checkPolicy, policyQuestions } from './policy.ts'
import { PublicTree } from './public-tree.ts'
import type { Release } from './release.ts'
import { renderConfig, renderIndex } from './render.ts'
import type { Settings } from './settings.ts'
import { type StaticCrate, staticPages } from './static/pages.ts'
import type { RegistryUrls } from './urls.ts'
import { compareVersions, type VersionIdentity, versionIdentity } from './version.ts'

/** The static way: a folder of `.crate` files in, a complete public tree out, no database. */
export interface StaticBuild {
  readonly from: string
  readonly out: string
  readonly settings: Settings
  readonly urls: RegistryUrls
  readonly progress?: Progress
}

/** What a static build did. */
export interface StaticResult {
  readonly crates: number
  readonly releases: number
  /** Files that were written or removed. */
  readonly changed: number
  readonly warnings: readonly Issue[]
}

interface Found {
  readonly path: string
  readonly release: Release
}

/** All releases of the folder: crates by canonical name, releases by version identity. */
type Shelf = Map<CanonicalName, Map<VersionIdentity, Found>>

/**
 * Renders a tree that depends on nothing but the bytes read: no clock, no file times, no folder names. Throws a
 * `Refusal` that names every broken file, and then writes nothing. Files whose bytes are right are left alone, and
 * what no longer belongs to any crate is removed.
 */
export async function buildStatic(job: StaticBuild): Promise<StaticResult> {
  const tree = await openOutput(job)
  const issues: Issue[] = []
  const shelf = await readShelf(job, issues)
  checkShelf(shelf, job.settings, issues)
  refuseErrors(issues)
  const releases = [...shelf.values()].reduce((sum, one) => sum + one.size, 0)
  return { crates: shelf.size, releases, changed: await writeTree(job, tree, shelf), warnings: issues }
}

async function openOutput({ from, out }: StaticBuild): Promise<PublicTree> {
  if (!existsSync(from)) refuse('file_missing', { path: from })
  const [source, target] = [resolve(from), resolve(out)]
  if (`${source}${sep}`.startsWith(`${target}${sep}`)) refuse('folders_overlap', { from, out })
  const tree = new PublicTree(target)
  const isTree = (await tree.read(configPlace.path)) !== null
  // Pruning in a folder that is something else, a Cargo workspace with a `crates` folder say, would destroy it.
  if (!isTree && existsSync(target) && (await readdir(target)).length > 0) refuse('folder_in_use', { out })
  return tree
}

async function readShelf(job: StaticBuild, issues: Issue[]): Promise<Shelf> {
  const paths = await findCrates(resolve(job.from), resolve(job.out))
  if (paths.length === 0) refuse('no_crates_found', { path: job.from })
  const shelf: Shelf = new Map()
  for (const [done, path] of paths.entries()) {
    const found: Issue[] = []
    const release = await inspect({ bytes: await crateBytes(path), pubtime: null }, job.settings, job.urls, found)
    if (release) put(shelf, { path, release: { ...release, readme: null } }, found)
    issues.push(...found.map(one => inFile(path, one)))
    job.progress?.(done + 1, paths.length)
  }
  return shelf
}

/** The `.crate` files below a folder, sorted; the output folder may lie in it and is passed over. */
async function findCrates(folder: string, out: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && path !== out) found.push(...(await findCrates(path, out)))
    else if (entry.isFile() && entry.name.endsWith('.crate')) found.push(path)
  }
  return found.sort()
}

/** A `.crate` file on disk as bytes with checksum. */
export async function crateBytes(path: string): Promise<CrateBytes> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    hash.update(chunk)
  }
  return { size, cksum: hash.digest('hex'), open: () => createReadStream(path) }
}

function put(shelf: Shelf, found: Found, issues: Issue[]): void {
  const { release, path } = found
  const canonical = canonicalName(release.name)
  const versions = shelf.get(canonical) ?? new Map<VersionIdentity, Found>()
  const [sibling] = versions.values()
  if (sibling && sibling.release.name !== release.name) {
    issues.push(issue('name_twins', { first: sibling.release.name, second: release.name }))
  }
  const identity = versionIdentity(release.version)
  const twin = versions.get(identity)
  if (twin && twin.release.entry.cksum !== release.entry.cksum) {
    issues.push(issue('twin_files', { first: twin.path, second: path, version: release.version }))
  }
  if (!twin) versions.set(identity, found)
  shelf.set(canonical, versions)
}

function inFile(path: string, one: Issue): Issue {
  const make = one.severity === 'error' ? issue : warning
  return make('broken_file', { path, message: one.message })
}

function checkShelf(shelf: Shelf, settings: Settings, issues: Issue[]): void {
  const listed = new Set(settings.yanked)
  for (const versions of shelf.values()) {
    for (const { path, release } of versions.values()) {
      listed.delete(`${release.name}@${release.version}`)
      const { ownDependencies, cratesIoDependencies } = policyQuestions(release)
      const spelling = (name: Name) => shelf.get(canonicalName(name))?.values().next().value?.release.name
      const missing = ownDependencies.filter(name => spelling(name) !== name)
      const facts = {
        existing: null,
        lookAlikes: [],
        missingDependencies: missing,
        otherSpellings: missing.map(spelling).filter(name => name !== undefined),
        alsoHere: cratesIoDependencies.filter(name => spelling(name) !== undefined),
      }
      const verdict = checkPolicy(release, facts, settings.policy)
      issues.push(...verdict.issues.map(one => inFile(path, one)))
    }
  }
  for (const spec of listed) issues.push(issue('yanked_unknown', { spec }))
}

/** Shows every `.crate` before the first index line, so that a reader of the unfinished tree never misses one. */
async function writeTree(job: StaticBuild, tree: PublicTree, shelf: Shelf): Promise<number> {
  const yanked = new Set(job.settings.yanked)
  const wanted = new Set([configPlace.path])
  const crates: StaticCrate[] = []
  let changed = 0
  for (const versions of shelf.values()) {
    for (const { path, release } of versions.values()) {
      const place = cratePlace(release.name, release.version)
      wanted.add(place.path)
      if (await tree.copy(place, path)) changed++
    }
  }
  for (const versions of shelf.values()) {
    const sorted = [...versions.values()].map(({ release }) => ({
      ...release,
      entry: { ...release.entry, yanked: yanked.has(`${release.name}@${release.version}`) },
    })) as [Release, ...Release[]]
    sorted.sort((a, b) => compareVersions(a.version, b.version))
    crates.push(sorted)
    const lines = sorted.map(one => renderEntry(one.entry))
    const output = renderIndex(sorted[0].name, lines)
    wanted.add(output.path)
    if (await tree.write(output)) changed++
  }
  for (const output of staticPages(crates, job.urls.dl)) {
    wanted.add(output.path)
    if (await tree.write(output)) changed++
  }
  if (await tree.write(renderConfig(job.urls, job.settings.auth.required))) changed++
  return changed + (await prune(tree, wanted))
}

async function prune(tree: PublicTree, wanted: ReadonlySet<string>): Promise<number> {
  let removed = 0
  for (const folder of [INDEX_FOLDER, CRATES_FOLDER]) {
    const stray: string[] = []
    for await (const path of tree.list(folder)) if (!wanted.has(path)) stray.push(path)
    for (const path of stray) await tree.remove(path)
    removed += stray.length
  }
  return removed
}
