// generator/static: A registry without a server, from a folder of crates. `build` and `push` call
// it; its records are a cache.
import { realpathSync } from 'node:fs'
import { type Issue, Refusal, refuse, refuseErrors, warning } from '../../core/error/error.ts'
import { cksumOfKey } from '../../core/paths/crates.ts'
import {
  configPath,
  GIT_INDEX_FOLDER,
  indexPath,
  type Output,
  output,
} from '../../core/paths/tree.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { ownDl, requireOwnDl } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import { readUpdate } from '../advisories/update.ts'
import { value } from '../database/statement.ts'
import { renderGitIndex } from '../git/static-repository.ts'
import { drain } from '../pages/build.ts'
import { claimPages } from '../pages/claim.ts'
import { buildPages } from '../pages/pages.ts'
import { listCrates } from '../places/disk/crate-files.ts'
import { writing } from '../places/disk/fault.ts'
import { isInside } from '../places/disk/files.ts'
import { ALONE } from '../places/locks/process-mutex.ts'
import { type FullContext, PLIMSOLL, type Progress } from '../projections/context.ts'
import { renderConfig } from '../projections/index/config.ts'
import { siteConfig } from '../projections/site-config.ts'
import { keepAdvisories } from '../records/advisories/change.ts'
import { operatorChange } from '../records/change.ts'
import type { Follower } from '../records/crate-change.ts'
import { eachCrate } from '../records/crates.ts'
import { markSelected } from '../records/marks.ts'
import { indexFiles } from '../records/releases.ts'
import { BuildCache } from './cache.ts'
import { changeRecords, removeGone } from './changes.ts'
import { lockTree } from './locks.ts'
import { applyNotes } from './notes.ts'
import { StaticReleases } from './releases.ts'
import { StaticTree } from './tree.ts'

/** A build from a folder of `.crate` files to a complete public tree.  */
export interface StaticBuild {
  readonly from: string
  readonly out: string
  readonly settings: Settings
  readonly urls: RegistryUrls
  /** Where `advisories/` may be; by default, `from`. */
  readonly folder?: string | null
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
  const { from, out, settings, urls, progress } = job
  requireOwnDl(urls)
  const tree = await StaticTree.open(from, out, settings.git.index === 'on')
  if (job.cache !== null && isInside(job.cache, tree.root))
    refuse('cache_public', { path: job.cache })
  const { limits, policy, git } = settings
  const site = siteConfig(settings, urls, false)
  const inputs = [site, urls, [...urls.own].sort(), git.index, limits, policy]
  progress?.('waiting for another build', 0, 0)
  const cache = await BuildCache.open(job.cache, inputs)
  try {
    const folder = await readFolder(job, tree, cache)
    const free = await writing(() => lockTree(tree.root))
    try {
      return await change(job, tree, cache, folder)
    } finally {
      await free()
    }
  } finally {
    await cache.close()
  }
}

/** Reads the `.crate` files of the folder, and refuses them. */
async function readFolder(
  { from, settings, urls, skipBad = false, progress }: StaticBuild,
  tree: StaticTree,
  cache: BuildCache,
): Promise<StaticReleases> {
  progress?.('looking for .crate files', 0, 0)
  const folder = new StaticReleases(settings, urls, cache)
  await folder.add(await listCrates(realpathSync(from), tree.root), progress)
  folder.check(skipBad)
  await cache.keepSources(folder.sources)
  const [first, ...rest] = errorsOf(folder)
  if (first && !skipBad) throw new Refusal([first, ...rest])
  return folder
}

function errorsOf({ issues }: StaticReleases): Issue[] {
  return issues.filter(({ severity }) => severity === 'error')
}

/** Makes the records those of the folder, and the tree what they say; mends what others changed. */
async function change(
  job: StaticBuild,
  tree: StaticTree,
  cache: BuildCache,
  folder: StaticReleases,
): Promise<StaticResult> {
  const { crates, issues, files } = folder
  const { from, out, settings, urls } = job
  const releases = crates.flat().map(({ name, version, entry: { cksum } }) => {
    return { name, version, cksum }
  })
  // Killed from here on, the next build begins anew.
  cache.isWhole = false
  await tree.begin({ database: cache.database, urls, files, releases })
  await tree.prove(cache.isSameBoot)
  const context = contextOf(job, tree, cache, files)
  await changeRecords(context, crates)
  await applyNotes(context, crates.flat(), settings)
  const holes = await readUpdate(context, job.folder ?? from, settings.advisories.from)
  await keepAdvisories(context, holes.changes, urls.own, operatorChange(''))
  const failed = await make(job, context)
  cache.isWhole = failed.length === 0
  const warnings = issues.filter(({ severity }) => severity === 'warning')
  if (cache.left) warnings.push(cache.left)
  if (files.size === 0) warnings.push(warning('registry_empty', { from, out }))
  if (ownDl(urls) === null) warnings.push(warning('dl_elsewhere', { dl: urls.dl, base: urls.base }))
  return {
    crates: crates.length,
    releases: releases.length,
    changed: tree.changed,
    warnings: [...warnings, ...tree.warnings],
    refused: [...errorsOf(folder), ...holes.issues, ...failed],
  }
}

/** Makes the tree what the records say; returns why some pages were not rendered. */
async function make(job: StaticBuild, context: StaticContext): Promise<readonly Issue[]> {
  const { tree } = context
  await tree.discardRespelled()
  let failed = await render(job, context)
  // What somebody has changed is mended by what renders everything, when crates that are gone are
  // forgotten: one may have the index file of another spelling of its name.
  if (tree.spoilt.size > 0) {
    await markEverything(context)
    failed = await render(job, context)
    await tree.finish()
    await tree.prove(true)
  }
  await tree.finish()
  return failed
}

/** Renders what is marked: every `.crate` before its line of the index, and then the pages. */
async function render(
  { settings, urls, progress }: StaticBuild,
  context: StaticContext,
): Promise<readonly Issue[]> {
  const { database, tree } = context
  const isMarked = (await value(database, 'SELECT 1 FROM marks LIMIT 1')) !== null
  if (!isMarked && (await tree.has(configPath))) return []
  const config = renderConfig(urls, settings.auth.required)
  // If this build is killed, the next one knows the tree by it.
  await tree.write(config)
  const shown = await drain(context, progress)
  refuseErrors(shown.issues)
  // "auto" is for a daemon, which keeps a history; a static tree gets a git index only with "on".
  if (settings.git.index === 'on') await renderGit(context, config)
  const { issues } = await buildPages(context, progress ? { progress } : {})
  await removeGone(database)
  return issues
}

function contextOf(
  { settings, urls, followers }: StaticBuild,
  tree: StaticTree,
  cache: BuildCache,
  files: StaticReleases['files'],
): StaticContext {
  const localFile = async (key: string) => files.get(cksumOfKey(key) ?? '') ?? null
  return {
    database: cache.database,
    followers,
    tree,
    urls,
    // The tree copies `.crate` files itself.
    crates: { localFile, path: () => null, size: async () => 0, isLocal: false },
    mutex: ALONE,
    pageMutex: ALONE,
    site: siteConfig(settings, urls, false),
    program: PLIMSOLL,
    authRequired: settings.auth.required,
    isShared: false,
    clock: () => new Date(0),
    remember: cache.remember.bind(cache),
  }
}

type StaticContext = FullContext & { readonly tree: StaticTree }

/** Has everything rendered again. */
async function markEverything(context: StaticContext): Promise<void> {
  await context.tree.forget()
  await claimPages(context)
  const { database } = context
  await markSelected(database, 'whole', 'SELECT id AS subject, generation FROM crates')
}

/** Renders the git index of all index files, and removes what is left of the one before. */
async function renderGit({ database, tree }: StaticContext, config: Output): Promise<void> {
  const outputs = [config]
  for await (const { id } of eachCrate(database))
    for (const { name, text } of await indexFiles(database, [id]))
      if (text !== null) outputs.push(output(indexPath(name), text))
  const files = renderGitIndex(outputs)
  const wanted = new Set(files.map(file => file.path))
  for (const file of files) await tree.write(file)
  for await (const path of tree.list(GIT_INDEX_FOLDER))
    if (!wanted.has(path)) await tree.remove(path)
}
