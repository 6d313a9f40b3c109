import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { posix, resolve, sep } from 'node:path'
import { renderEntry } from '../../core/entry/render.ts'
import { type Issue, refuse, refuseErrors, warning } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { CRATES_FOLDER, crateFilePath } from '../../core/paths/crates.ts'
import { configPath, GIT_INDEX_FOLDER, INDEX_FOLDER } from '../../core/paths/index-files.ts'
import { ASSETS_FOLDER, SITEMAPS_FOLDER } from '../../core/paths/pages.ts'
import { type Place, placeOf } from '../../core/paths/place.ts'
import { SEARCH_FOLDER } from '../../core/paths/search.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { RegistryUrls } from '../../core/urls.ts'
import { compareVersions } from '../../core/version.ts'
import type { Progress } from '../build/build.ts'
import { renderGitIndex, STATIC_CONFIG } from '../git/static-repository.ts'
import { renderConfig, renderIndex } from '../render/index-files.ts'
import { siteConfig } from '../render/site-config.ts'
import { listCrates } from '../store/crate-files.ts'
import { fileChecksum } from '../store/durable-file.ts'
import { PublicTree } from '../store/public-tree.ts'
import { InspectionCache } from './cache.ts'
import { type StaticCrate, staticPages } from './pages.ts'
import { StaticReleases } from './releases.ts'

/** The static way: a folder of `.crate` files in, a complete public tree out, no database. */
export interface StaticBuild {
  readonly from: string
  readonly out: string
  readonly settings: Settings
  readonly urls: RegistryUrls
  /** File that remembers what was found in each `.crate`; it makes the next build fast and changes nothing else. */
  readonly cache: string | null
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

/** A whole tree: where each `.crate` is to be copied from, the index, and the pages, one after the other. */
interface Plan {
  readonly crates: readonly {
    readonly place: Place
    readonly source: string
    readonly cksum: string
  }[]
  readonly indexes: readonly Output[]
  readonly pages: () => AsyncIterable<Output>
}

/**
 * Renders a tree that depends on nothing but the bytes read and the settings: no clock, no file times, no folder names.
 * Throws a `Refusal` that names every broken file, and then writes nothing. Files whose bytes are right are left alone,
 * and what no longer belongs to any crate is removed.
 */
export async function buildStatic(job: StaticBuild): Promise<StaticResult> {
  const tree = await openOutput(job)
  const paths = await listCrates(realpathSync(job.from), tree.root)
  const cache = await InspectionCache.open(job.cache, job.settings.limits, job.urls.own)
  const shelf = new StaticReleases(job.settings, job.urls, cache)
  for (const [done, path] of paths.entries()) {
    await shelf.put(path)
    job.progress?.(done + 1, paths.length)
  }
  await cache.close()
  shelf.check()
  refuseErrors(shelf.issues)
  const plan = planOf(job, shelf)
  return {
    crates: shelf.crates.size,
    releases: plan.crates.length,
    changed: await carryOut(tree, plan),
    warnings:
      paths.length > 0
        ? shelf.issues
        : [warning('registry_empty', { from: job.from, out: job.out })],
  }
}

async function openOutput({ from, out, settings }: StaticBuild): Promise<PublicTree> {
  if (!existsSync(from)) refuse('file_missing', { path: from })
  const target = existsSync(out) ? realpathSync(out) : resolve(out)
  if (`${realpathSync(from)}${sep}`.startsWith(`${target}${sep}`))
    refuse('folders_overlap', { from, out })
  // Every build holds every file against its bytes, so that one spoilt by a power cut is mended by the next.
  const tree = new PublicTree(target, { durable: false })
  const isTree = (await tree.read(configPath)) !== null
  // Pruning in a folder that is something else, a Cargo workspace with a `crates` folder say, would destroy it.
  if (!isTree && existsSync(target) && (await readdir(target)).length > 0)
    refuse('folder_in_use', { out })
  // A repository that a daemon has written has a history, which could not be rendered again.
  const path = tree.path(GIT_INDEX_FOLDER)
  if (settings.git.index === 'on' && existsSync(path) && !(await hasOwnGitIndex(tree))) {
    refuse('git_index_foreign', { path })
  }
  return tree
}

function planOf({ settings, urls }: StaticBuild, shelf: StaticReleases): Plan {
  const yanked = new Set(settings.yanked)
  const crates: Plan['crates'][number][] = []
  const indexes: Output[] = []
  const pages: StaticCrate[] = []
  for (const versions of shelf.crates.values()) {
    const sorted = [...versions.values()].sort((a, b) =>
      compareVersions(a.release.version, b.release.version),
    )
    const releases = sorted.map(({ path, release }) => {
      const { name, version, entry } = release
      crates.push({
        place: placeOf(crateFilePath(name, version)),
        source: path,
        cksum: entry.cksum,
      })
      return { ...release, path, entry: { ...entry, yanked: yanked.has(`${name}@${version}`) } }
    })
    const lines = releases.map(one => renderEntry(one.entry))
    indexes.push(renderIndex(sorted[0]?.release.name as Name, lines))
    pages.push(releases)
  }
  const site = siteConfig(settings, urls, false)
  const config = renderConfig(urls, settings.auth.required)
  // "auto" is for who has a daemon to keep the history: a tree for file servers gets a second index only when asked to.
  const git = settings.git.index === 'on' ? renderGitIndex([...indexes, config]) : []
  return {
    crates,
    indexes: [...indexes, config, ...git],
    pages: () => staticPages({ crates: pages, dl: urls.dl, site }),
  }
}

async function hasOwnGitIndex(tree: PublicTree): Promise<boolean> {
  return (await tree.read(`${GIT_INDEX_FOLDER}/config`))?.toString() === STATIC_CONFIG
}

/** Shows every `.crate` before the first index line, so that a reader of the unfinished tree never misses one. */
async function carryOut(tree: PublicTree, { crates, indexes, pages }: Plan): Promise<number> {
  const wanted = new Set([...crates.map(one => one.place.path), ...indexes.map(one => one.path)])
  const spellings = new Map(
    [...wanted]
      .flatMap(path => [path, posix.dirname(path)])
      .map(path => [path.toLowerCase(), path]),
  )
  // On a file system to which `Foo` and `foo` are one name, a file left under the old spelling would pass for the new.
  const isRespelled = (path: string): boolean =>
    path !== '.' &&
    ((spellings.get(path.toLowerCase()) ?? path) !== path || isRespelled(posix.dirname(path)))
  let changed = await prune(tree, isRespelled)
  for (const { place, source, cksum } of crates)
    if (await copyCrate(tree, place, source, cksum)) changed++
  for (const output of indexes) if (await tree.write(output)) changed++
  for await (const output of pages()) {
    wanted.add(output.path)
    if (await tree.write(output)) changed++
  }
  return changed + (await prune(tree, path => !wanted.has(path)))
}

async function copyCrate(
  tree: PublicTree,
  place: Place,
  source: string,
  cksum: string,
): Promise<boolean> {
  if ((await fileChecksum(tree.path(place.path))) === cksum) return false
  const bytes = await readFile(source)
  if (createHash('sha256').update(bytes).digest('hex') !== cksum)
    refuse('file_changed', { path: source })
  return tree.write({ ...place, bytes })
}

/** Files at the root that this program makes, under names that come and go. */
const SITEMAP = /^sitemap(?:-[a-z0-9_]+)?\.xml$/

async function prune(tree: PublicTree, isStray: (path: string) => boolean): Promise<number> {
  const strays = (await tree.files('')).filter(path => SITEMAP.test(path) && isStray(path))
  const folders = [INDEX_FOLDER, CRATES_FOLDER, ASSETS_FOLDER, SEARCH_FOLDER, SITEMAPS_FOLDER]
  if (await hasOwnGitIndex(tree)) folders.push(GIT_INDEX_FOLDER)
  for (const folder of folders) {
    for await (const path of tree.list(folder)) if (isStray(path)) strays.push(path)
  }
  for (const path of strays) await tree.remove(path)
  return strays.length
}
