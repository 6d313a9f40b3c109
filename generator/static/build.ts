import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { compareText } from '../../core/entry/entry.ts'
import { type Issue, Refusal, refuse, warning } from '../../core/error/error.ts'
import { canonicalName } from '../../core/name.ts'
import { crateFolder, crateKey } from '../../core/paths/crates.ts'
import { indexPath, output } from '../../core/paths/tree.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { sha256 } from '../../core/sha256.ts'
import { ownDl, requireOwnDl } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import type { Progress } from '../build/build.ts'
import { renderConfig } from '../build/crate.ts'
import { renderGitIndex } from '../git/static-repository.ts'
import { buildPages } from '../pages/pages.ts'
import { type PageContext, PLIMSOLL } from '../projections/context.ts'
import { siteConfig } from '../render/site-config.ts'
import { operatorChange } from '../store/catalog/change.ts'
import { eachCrate } from '../store/catalog/crates.ts'
import { importReleases } from '../store/catalog/release-changes.ts'
import { indexFiles } from '../store/catalog/releases.ts'
import { listCrates } from '../store/crate-files.ts'
import type { Database } from '../store/database/connection.ts'
import { openMemory } from '../store/database/database.ts'
import type { ProcessMutex } from '../store/process-mutex.ts'
import { BuildCache, digestOf } from './cache.ts'
import { packagePath, type StaticCrate, type StaticRelease, StaticReleases } from './releases.ts'
import { respelled, StaticTree } from './tree.ts'

/** A build from a folder of `.crate` files to a complete public tree; its records are in memory. */
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
  const tree = await StaticTree.open(job.from, job.out, settings.git.index === 'on')
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
    await cache.close(true)
    throw new Refusal([first, ...rest])
  }
  // Always in one order: the places of crates in lists and search files follow it.
  const crates = releases.crates.sort(([a], [b]) =>
    compareText(canonicalName(a.name), canonicalName(b.name)),
  )
  refused.push(...(await renderUnlessSame(job, tree, crates, cache)))
  const warnings = releases.issues.filter(one => one.severity === 'warning')
  if (paths.length === 0) warnings.push(warning('registry_empty', { from: job.from, out: job.out }))
  if (ownDl(urls) === null) warnings.push(warning('dl_elsewhere', { dl: urls.dl, base: urls.base }))
  return {
    crates: crates.length,
    releases: crates.flat().length,
    changed: tree.changed,
    warnings,
    refused,
  }
}

/** Renders the tree, unless it is as an earlier build left it. Returns the issues of pages. */
async function renderUnlessSame(
  job: StaticBuild,
  tree: StaticTree,
  crates: readonly StaticCrate[],
  cache: BuildCache,
): Promise<readonly Issue[]> {
  const { settings, urls } = job
  const shown = crates.flat().map(one => [one.name, one.version, one.entry.cksum, one.entry.yanked])
  const inputs = [siteConfig(settings, urls, false), urls, settings.git.index, shown]
  const stateOf = (stamps: ReadonlyMap<string, string>) => digestOf([inputs, [...stamps]])
  const present = await tree.stamps(urls)
  // After a power failure or on another machine, times do not prove the bytes.
  if (cache.isSameBoot && cache.get('tree') === stateOf(present)) {
    await cache.close(true)
    return []
  }
  const places = crates.flatMap(([first, ...rest]) => [
    crateFolder(first.name),
    ...[first, ...rest].map(one => packagePath(one, ownDl(urls))),
  ])
  const issues = await render(job, tree, crates, cache, respelled(present.keys(), places))
  await tree.discard([...present.keys()].filter(path => !tree.wanted.has(path)))
  cache.set('tree', issues.length > 0 ? null : stateOf(await tree.stamps(urls)))
  await cache.close()
  return issues
}

/** Renders all files: every `.crate` before the index, so that no line lacks its `.crate`. */
async function render(
  { settings, urls, progress }: StaticBuild,
  tree: StaticTree,
  crates: readonly StaticCrate[],
  cache: BuildCache,
  gone: readonly string[],
): Promise<readonly Issue[]> {
  await tree.discard(gone)
  for (const release of crates.flat()) {
    const bytes = await readFile(release.path)
    if (sha256(bytes) !== release.entry.cksum) refuse('file_changed', { path: release.path })
    await tree.write(output(packagePath(release, ownDl(urls)), bytes))
  }
  const database = await openMemory()
  try {
    await addAll(database, crates)
    const config = renderConfig(urls, settings.auth.required)
    const outputs = [...(await indexOutputs(database)), config]
    // "auto" is for a daemon, which keeps a history; a static tree gets a git index only with "on".
    if (settings.git.index === 'on') outputs.push(...renderGitIndex(outputs))
    for (const file of outputs) await tree.write(file)
    const context = pageContext(settings, urls, database, tree, crates.flat(), cache)
    return (await buildPages(context, progress ? { progress } : {})).issues
  } finally {
    await database.close()
  }
}

/** Adds the releases to the records, whose times are unknown: a `.crate` does not contain them. */
async function addAll(database: Database, crates: readonly StaticCrate[]): Promise<void> {
  for (const releases of crates) {
    const from = { source: 'folder', owner: null }
    const landings = await importReleases(database, releases, operatorChange(''), from)
    for (const landing of landings)
      if (landing.outcome === 'refused') throw new Refusal(landing.issues as [Issue, ...Issue[]])
  }
}

async function indexOutputs(database: Database) {
  const outputs = []
  for await (const { id } of eachCrate(database))
    for (const { name, text } of await indexFiles(database, [id]))
      outputs.push(output(indexPath(name), text ?? ''))
  return outputs
}

/** Nobody else uses the tree. */
const alone: ProcessMutex = {
  run: work => work(),
  rendering: () => undefined,
  isHeld: async () => true,
  close: async () => undefined,
}

function pageContext(
  settings: Settings,
  urls: RegistryUrls,
  database: Database,
  tree: StaticTree,
  releases: readonly StaticRelease[],
  cache: BuildCache,
): PageContext {
  const files = new Map(releases.map(one => [crateKey(one.name, one.entry.cksum), one]))
  return {
    database,
    tree,
    urls,
    crates: { localFile: async key => files.get(key) ?? null },
    mutex: alone,
    pageMutex: alone,
    site: siteConfig(settings, urls, false),
    program: PLIMSOLL,
    authRequired: settings.auth.required,
    clock: () => new Date(0),
    remember: (key, work) => cache.remember(digestOf(key), work),
  }
}
