// generator/static: A registry without a server, from a folder of crates. `build` and `push` call
// it; its records end with it.
import { realpathSync } from 'node:fs'
import { type Issue, Refusal, refuse, warning } from '../../core/error/error.ts'
import { crateFolder, crateKey } from '../../core/paths/crates.ts'
import { configPath, indexPath, output } from '../../core/paths/tree.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { sha256 } from '../../core/sha256.ts'
import { ownDl, requireOwnDl } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import { openMemory } from '../database/database.ts'
import { run } from '../database/statement.ts'
import { renderGitIndex } from '../git/static-repository.ts'
import { buildPages } from '../pages/pages.ts'
import { listCrates } from '../places/disk/crate-files.ts'
import { isInside, readBytes } from '../places/disk/files.ts'
import type { ProcessMutex } from '../places/locks/process-mutex.ts'
import { stageOf } from '../places/sync.ts'
import type { Progress } from '../projections/context.ts'
import { PLIMSOLL } from '../projections/context.ts'
import { renderConfig } from '../projections/index/config.ts'
import { siteConfig } from '../projections/site-config.ts'
import { operatorChange } from '../records/change.ts'
import type { Follower } from '../records/crate-change.ts'
import { eachCrate } from '../records/crates.ts'
import { indexFiles } from '../records/releases.ts'
import { importReleases } from '../records/releases-changes.ts'
import { BuildCache, bootId, digestOf } from './cache.ts'
import { applyNotes } from './notes.ts'
import { packagePath, type StaticRelease, StaticReleases } from './releases.ts'
import { respelled, type Stamps, StaticTree } from './tree.ts'

/** A build from a folder of `.crate` files to a complete public tree; its records are in memory. */
export interface StaticBuild {
  readonly from: string
  readonly out: string
  readonly settings: Settings
  readonly urls: RegistryUrls
  /** Everything that is derived from the records. */
  readonly followers: readonly Follower[]
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
  /** The reasons why `skipBad` left files out. */
  readonly refused: readonly Issue[]
}

/**
 * Renders a tree that depends only on the bytes read and the settings: no clock, no file times, no
 * folder names. Without `skipBad`, throws a `Refusal` that names every refused file and writes
 * nothing. Leaves unchanged files alone, and removes files that are not part of the tree.
 */
export async function buildStatic(job: StaticBuild): Promise<StaticResult> {
  const { from, out, settings, urls, skipBad = false, progress } = job
  requireOwnDl(urls)
  const tree = await StaticTree.open(from, out, settings.git.index === 'on')
  if (job.cache !== null && isInside(job.cache, tree.root))
    refuse('cache_public', { path: job.cache })
  progress?.('looking for .crate files', 0, 0)
  const paths = await listCrates(realpathSync(from), tree.root)
  const cache = await BuildCache.open(job.cache, [settings.limits, [...urls.own].sort()])
  const releases = new StaticReleases(settings, urls, cache)
  for (const [done, path] of paths.entries()) {
    await releases.put(path)
    progress?.('reading .crate files', done + 1, paths.length)
  }
  releases.check(skipBad)
  const refused = releases.issues.filter(issue => issue.severity === 'error')
  const [first, ...rest] = refused
  if (first && !skipBad) {
    // The next build need not read the accepted files again.
    await cache.close(true)
    throw new Refusal([first, ...rest])
  }
  refused.push(...(await renderUnlessSame(job, tree, releases, cache)))
  const warnings = releases.issues.filter(issue => issue.severity === 'warning')
  if (paths.length === 0) warnings.push(warning('registry_empty', { from, out }))
  if (ownDl(urls) === null) warnings.push(warning('dl_elsewhere', { dl: urls.dl, base: urls.base }))
  const { changed } = tree
  const { crates } = releases
  return { crates: crates.length, releases: crates.flat().length, changed, warnings, refused }
}

/**
 * Renders the tree, unless it is as an earlier build left it. Returns the issues of pages; warns in
 * `found` of packages that were replaced.
 */
async function renderUnlessSame(
  job: StaticBuild,
  tree: StaticTree,
  added: StaticReleases,
  cache: BuildCache,
): Promise<readonly Issue[]> {
  const { settings, urls } = job
  const releases = added.crates.flat()
  const shown = releases.map(({ name, version, entry }) => [
    name,
    version,
    entry.cksum,
    entry.yanked,
  ])
  const inputs = [
    siteConfig(settings, urls, false),
    urls,
    settings.git.index,
    shown,
    settings.yanked,
    settings.deprecated,
  ]
  // Times do not prove the bytes after a power failure or on another machine.
  const boot = await bootId()
  const stateOf = (stamps: Stamps) => `${boot} ${digestOf([inputs, [...stamps]])}`
  const present = await tree.stamps(urls)
  if (cache.get('tree') === stateOf(present)) {
    await cache.close(true)
    return []
  }
  const packages = releases.map(release => packagePath(release, ownDl(urls)))
  const places = [...releases.map(({ name }) => crateFolder(name)), ...packages]
  await tree.discard(respelled(present.keys(), places))
  const issues = await render(job, tree, releases, cache)
  const gone = [...present.keys()].filter(path => !tree.wanted.has(path))
  await tree.discard(gone.sort((a, b) => stageOf(b) - stageOf(a)))
  const stamps = await tree.stamps(urls)
  for (const path of packages)
    if (present.has(path) && present.get(path) !== stamps.get(path))
      added.issues.push(warning('package_replaced', { path }))
  cache.set('tree', issues.length > 0 ? null : stateOf(stamps))
  await cache.close()
  return issues
}

/** Renders all files: every `.crate` before the index, so that no line lacks its `.crate`. */
async function render(
  { settings, urls, followers, progress }: StaticBuild,
  tree: StaticTree,
  releases: readonly StaticRelease[],
  cache: BuildCache,
): Promise<readonly Issue[]> {
  const config = renderConfig(urls, settings.auth.required)
  // If this build is killed, the next one knows the tree by it.
  if (!(await tree.read(configPath))) await tree.write(config)
  for (const release of releases) {
    const bytes = await readBytes(release.path)
    if (!bytes || sha256(bytes) !== release.entry.cksum)
      return refuse('file_changed', { path: release.path })
    await tree.write(output(packagePath(release, ownDl(urls)), bytes))
  }
  const files = new Map(
    releases.map(release => [crateKey(release.name, release.entry.cksum), release]),
  )
  const context = {
    database: await openMemory(),
    followers,
    tree,
    urls,
    crates: { localFile: async (key: string) => files.get(key) ?? null },
    mutex: alone,
    pageMutex: alone,
    site: siteConfig(settings, urls, false),
    program: PLIMSOLL,
    authRequired: settings.auth.required,
    isShared: false,
    clock: () => new Date(0),
    remember: cache.remember.bind(cache),
  }
  try {
    // Their times are unknown: a `.crate` does not contain them.
    const from = { source: 'folder', owner: null }
    await importReleases(context, releases, operatorChange(''), from)
    await applyNotes(context, releases, settings)
    const outputs = [config]
    for await (const { id } of eachCrate(context.database))
      for (const { name, text } of await indexFiles(context.database, [id]))
        outputs.push(output(indexPath(name), text ?? ''))
    // "auto" is for a daemon, which keeps a history; a static tree gets a git index only with "on".
    if (settings.git.index === 'on') outputs.push(...renderGitIndex(outputs))
    for (const file of outputs) await tree.write(file)
    await run(context.database, "DELETE FROM marks WHERE kind = 'index'")
    return (await buildPages(context, progress ? { progress } : {})).issues
  } finally {
    await context.database.close()
  }
}

/** Nobody else uses the tree. */
const alone: ProcessMutex = {
  run: work => work(),
  ifLost: () => undefined,
  isHeld: async () => true,
  close: async () => undefined,
}
