import { existsSync, realpathSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { posix, resolve, sep } from 'node:path'
import { renderEntry } from '../../core/entry/render.ts'
import { type Issue, inFile, Refusal, refuse, warning } from '../../core/error/error.ts'
import { CRATES_FOLDER, crateFolder } from '../../core/paths/crates.ts'
import { IMAGES_FOLDER, isOldImagePath } from '../../core/paths/images.ts'
import { OVERVIEW_FOLDERS } from '../../core/paths/listings.ts'
import { isOwnPath } from '../../core/paths/own.ts'
import { SEARCH_FOLDER } from '../../core/paths/search.ts'
import {
  ASSETS_FOLDER,
  configPath,
  GIT_INDEX_FOLDER,
  INDEX_FOLDER,
  output,
  SITEMAPS_FOLDER,
} from '../../core/paths/tree.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { sha256 } from '../../core/sha256.ts'
import { type OwnDl, ownDl, requireOwnDl } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import type { Progress } from '../build/build.ts'
import { renderConfig, renderIndex } from '../build/crate.ts'
import { renderGitIndex, STATIC_CONFIG } from '../git/static-repository.ts'
import { listCrates } from '../places/disk/crate-files.ts'
import { PublicTree } from '../places/public-tree.ts'
import { siteConfig } from '../render/site-config.ts'
import { BuildCache, type OutputGroup, StaticOutputs } from './cache.ts'
import { staticPages } from './pages.ts'
import { packagePath, type StaticCrate, type StaticRelease, StaticReleases } from './releases.ts'

/** A build from a folder of `.crate` files to a complete public tree, without a database. */
export interface StaticBuild {
  readonly from: string
  readonly out: string
  readonly settings: Settings
  readonly urls: RegistryUrls
  /** Cache file that only makes the next build faster; null for none. */
  readonly cache: string | null
  /** Builds the tree without the refused `.crate` files, instead of failing. */
  readonly skipBad?: boolean
  readonly progress?: Progress
}

/** The result of a static build. */
export interface StaticResult {
  readonly crates: number
  readonly releases: number
  /** Number of files that were written or removed. */
  readonly changed: number
  readonly warnings: readonly Issue[]
  /** With `skipBad`: why files were left out. */
  readonly refused: readonly Issue[]
}

/**
 * Renders a tree that depends only on the bytes read and the settings: no clock, no file times, no
 * folder names. Without `skipBad`, throws a `Refusal` that names every refused file and writes
 * nothing. Leaves unchanged files alone, and removes files that are not part of the tree.
 */
export async function buildStatic(job: StaticBuild): Promise<StaticResult> {
  const { settings, urls, skipBad = false } = job
  requireOwnDl(urls)
  const tree = await openOutput(job)
  job.progress?.('looking for .crate files', 0, 0)
  const paths = await listCrates(realpathSync(job.from), tree.root)
  const cache = await BuildCache.open(job.cache, [settings.limits, [...urls.own].sort()])
  const releases = new StaticReleases(settings, urls, cache)
  for (const [done, path] of paths.entries()) {
    await releases.put(path)
    job.progress?.('reading .crate files', done + 1, paths.length)
  }
  releases.check(skipBad)
  const refused = releases.issues.filter(one => one.severity === 'error')
  const [first, ...rest] = refused
  if (first && !skipBad) {
    // The next build need not read the accepted files again.
    await cache.close()
    throw new Refusal([first, ...rest])
  }
  const { crates } = releases
  const outputs = new StaticOutputs(tree, cache)
  refused.push(...(await writeTree(job, tree, crates, outputs)))
  await cache.close()
  const warnings = releases.issues.filter(one => one.severity === 'warning')
  if (paths.length === 0) warnings.push(warning('registry_empty', { from: job.from, out: job.out }))
  if (ownDl(urls) === null) warnings.push(warning('dl_elsewhere', { dl: urls.dl, base: urls.base }))
  return {
    crates: crates.length,
    releases: crates.flat().length,
    changed: outputs.changed,
    warnings,
    refused,
  }
}

async function openOutput({ from, out, settings }: StaticBuild): Promise<PublicTree> {
  if (!existsSync(from)) refuse('file_missing', { path: from })
  const target = existsSync(out) ? realpathSync(out) : resolve(out)
  if (`${realpathSync(from)}${sep}`.startsWith(`${target}${sep}`))
    refuse('folders_overlap', { from, out })
  // Not synced to disk: after a power failure, the next build checks every file's checksum.
  const tree = new PublicTree(target, 'never')
  const isTree = (await tree.read(configPath)) !== null
  // Removing files from another kind of folder, such as a Cargo workspace, would destroy it.
  if (!isTree && existsSync(target) && (await readdir(target)).length > 0)
    refuse('folder_in_use', { out })
  // A repository that a daemon wrote has a history, which a build cannot render again.
  const path = tree.path(GIT_INDEX_FOLDER)
  if (settings.git.index === 'on' && existsSync(path) && !(await hasOwnGitIndex(tree))) {
    refuse('git_index_foreign', { path })
  }
  return tree
}

/** Writes all files of the tree and removes all others. Returns the issues of failed pages. */
async function writeTree(
  job: StaticBuild,
  tree: PublicTree,
  crates: readonly StaticCrate[],
  outputs: StaticOutputs,
): Promise<Issue[]> {
  const groups = groupsOf(job, crates)
  const dl = ownDl(job.urls)
  const present = await ownFiles(tree, [dl, await earlierDl(tree, job.urls)])
  const respelled = findRespelled(present, crates, dl)
  for (const path of respelled) await tree.remove(path)
  const failed: Issue[] = []
  for (const [done, group] of groups.entries()) {
    try {
      await outputs.write(group)
    } catch (error) {
      // If one archive cannot be read again, the other crates still get their pages.
      if (!(error instanceof Refusal) || error.has('file_changed')) throw error
      failed.push(...error.issues.map(one => inFile(group.id, one)))
    }
    job.progress?.('rendering', done + 1, groups.length)
  }
  const strangers = present.filter(path => !outputs.wanted.has(path) && !respelled.has(path))
  for (const path of strangers) await tree.remove(path)
  outputs.changed += respelled.size + strangers.length
  return failed
}

/** Orders every `.crate` before the index, so that no index line lacks its `.crate` meanwhile. */
function groupsOf({ settings, urls }: StaticBuild, crates: readonly StaticCrate[]): OutputGroup[] {
  const indexes = crates.map(releases =>
    renderIndex(
      releases[0].name,
      releases.map(one => renderEntry(one.entry)),
    ),
  )
  const config = renderConfig(urls, settings.auth.required)
  // "auto" is for a daemon, which keeps a history; a static tree gets a git index only with "on".
  const git = settings.git.index === 'on' ? renderGitIndex([...indexes, config]) : []
  const all = [...indexes, config, ...git]
  const site = siteConfig(settings, urls, false)
  return [
    ...crates.flat().map(release => crateFile(release, ownDl(urls))),
    { id: 'index', inputs: all.map(one => one.bytes.toString('latin1')), render: () => all },
    ...staticPages(crates, site),
  ]
}

function crateFile(release: StaticRelease, dl: OwnDl | null): OutputGroup {
  const { name, version, path, entry } = release
  const place = packagePath(release, dl)
  return {
    id: `crate ${name} ${version}`,
    inputs: [entry.cksum, place],
    async *render() {
      const bytes = await readFile(path)
      if (sha256(bytes) !== entry.cksum) refuse('file_changed', { path })
      yield output(place, bytes)
    },
  }
}

async function hasOwnGitIndex(tree: PublicTree): Promise<boolean> {
  return (await tree.read(`${GIT_INDEX_FOLDER}/config`))?.toString() === STATIC_CONFIG
}

/** Files at the root that this program writes under varying names. */
const SITEMAP = /^sitemap(?:-[a-z0-9_]+)?\.xml$/

/** Lists every file of the tree that this program may have written. */
async function ownFiles(tree: PublicTree, templates: readonly (OwnDl | null)[]): Promise<string[]> {
  const found = (await tree.files('')).filter(path => SITEMAP.test(path))
  const folders = [INDEX_FOLDER, CRATES_FOLDER, ASSETS_FOLDER, SEARCH_FOLDER, SITEMAPS_FOLDER]
  for (const folder of OVERVIEW_FOLDERS)
    for await (const path of tree.list(folder)) if (path.endsWith('.html')) found.push(path)
  if (await hasOwnGitIndex(tree)) folders.push(GIT_INDEX_FOLDER)
  for (const folder of folders)
    for await (const path of tree.list(folder)) if (isOwnPath(path)) found.push(path)
  for await (const path of tree.list(IMAGES_FOLDER)) if (isOldImagePath(path)) found.push(path)
  // Those of crates are listed already.
  for (const dl of templates)
    if (dl && dl.folder !== CRATES_FOLDER)
      for await (const path of tree.list(dl.folder))
        if (dl.find(path) && !isOwnPath(path)) found.push(path)
  return found
}

/** Returns the `dl` that the tree had until now, whose files are not wanted any more. */
async function earlierDl(tree: PublicTree, urls: RegistryUrls): Promise<OwnDl | null> {
  const [, dl] = /"dl":"([^"\\]+)"/.exec(String(await tree.read(configPath))) ?? []
  return dl === undefined || dl === urls.dl ? null : ownDl({ base: urls.base, dl })
}

/**
 * Finds files under another spelling of a crate's name. On a case-insensitive file system, a file
 * with the old spelling would otherwise be taken for the new one.
 */
function findRespelled(
  present: readonly string[],
  crates: readonly StaticCrate[],
  dl: OwnDl | null,
): Set<string> {
  const spellings = new Map<string, string>()
  for (const release of crates.flat()) {
    const places = [packagePath(release, dl), crateFolder(release.name)]
    for (const one of places) spellings.set(one.toLowerCase(), one)
  }
  const isRespelled = (path: string): boolean =>
    path !== '.' &&
    ((spellings.get(path.toLowerCase()) ?? path) !== path || isRespelled(posix.dirname(path)))
  return new Set(present.filter(isRespelled))
}
