// generator/deploy: Copies a public tree to a bucket, whole. `deploy` and workers call it; it never
// renders a file.
import { refuse } from '../../core/error/error.ts'
import { isOfHost, isOwnPath } from '../../core/paths/own.ts'
import { BUILD_LOCK, configPath, PUSH_FOLDER } from '../../core/paths/tree.ts'
import { UPSTREAM_FOLDER } from '../../core/paths/upstream.ts'
import type { OwnDl } from '../../core/urls/dl-template.ts'
import { FolderPlace } from '../places/folder-place.ts'
import type { FileInfo, Place } from '../places/place.ts'
import { type Difference, stageOf, sync } from '../places/sync.ts'
import type { Progress } from '../projections/context.ts'
import { DATABASE_FILE, SETTINGS_FILE } from '../registry/folder.ts'

export interface Deployment {
  readonly from: string
  readonly to: Place
  /** Whether files are removed that a tree may have, but this one does not. */
  readonly removes: boolean
  /** Whether sparse index and `.crate` files there stay as they are: pushes write them. */
  readonly isPagesOnly?: boolean
  /** Whether nothing is changed, but what would be is returned. */
  readonly isTrial: boolean
  /** The `dl` of the tree if it leads into it; null for another one, and by default the usual one. */
  readonly dl?: OwnDl | null
  readonly progress?: Progress
}

/**
 * Makes a folder or bucket equal to a public tree as `sync` does: `.crate` files first, the index
 * next, pages last. Refuses a target that is neither empty nor a tree, and leaves alone what no
 * tree has.
 */
export async function deploy(job: Deployment) {
  const { to, removes, isPagesOnly = false, isTrial, progress } = job
  const from = new FolderPlace(job.from, { sync: 'never' })
  if (!(await from.head(configPath))) refuse('deploy_no_tree', { from: job.from })
  const there = new Map<string, FileInfo>()
  for await (const file of to.list()) {
    there.set(file.path, file)
    if (there.size % 1000 === 0) progress?.('listing files', there.size, 0)
  }
  await checkTarget(job, from, there)
  const { isPackage, isOwn, order } = rulesOf(job)
  const isPushed = (path: string) => isPackage(path) || /^(?:index|\.push)\/|\.crate$/.test(path)
  const isLock = (path: string) => path.startsWith(`${PUSH_FOLDER}/`) || path.startsWith(BUILD_LOCK)
  const isLeft = (path: string) => isPagesOnly && isPushed(path)
  const isElsewhere = (path: string) => isLeft(path) || path.startsWith(`${UPSTREAM_FOLDER}/`)
  for (const path of there.keys()) if (isElsewhere(path)) there.delete(path)
  const { surplus, removed, ...rest } = await sync(from, to, {
    brings: path => !isLeft(path) && !isLock(path),
    removes: path => removes && isOwn(path),
    order,
    there,
    isTrial,
    progress: (done, total) => progress?.('uploading files', done, total),
  })
  return {
    ...rest,
    removed: removed.toSorted((a, b) => order(b) - order(a) || (a < b ? -1 : 1)),
    surplus: surplus.length,
    // Such as an operator's, which always stay.
    foreign: surplus.filter(path => !isOwn(path)).sort(),
  }
}

/** Copies an upstream's tree to where servers have it, below the registry's; null without one. */
export async function deployUpstream(
  from: Place,
  to: Place,
  isTrial: boolean,
): Promise<Difference | null> {
  if ((await from.head(configPath)) === null) return null
  const brings = (path: string) => /^(?:index|crates)\//.test(path)
  return sync(from, to, { brings, removes: brings, isTrial })
}

/** Returns which files are of a tree, and their order, with those to which its own `dl` leads. */
function rulesOf({ dl }: Deployment) {
  const isPackage = (path: string) => Boolean(dl?.find(path))
  return {
    isPackage,
    isOwn: (path: string) => isOwnPath(path) || isPackage(path),
    order: (path: string) => (isPackage(path) ? 0 : stageOf(path)),
  }
}

/**
 * Refuses a target with these files unless it is empty, has a tree, or what a first upload that was
 * stopped may have left: that wrote the `config.json` after all `.crate` files and before all pages.
 */
async function checkTarget(
  job: Deployment,
  tree: FolderPlace,
  files: ReadonlyMap<string, FileInfo>,
): Promise<void> {
  const { removes, isPagesOnly = false } = job
  const { name: to } = job.to
  const { isOwn, order } = rulesOf(job)
  if (files.has(SETTINGS_FILE) || files.has(DATABASE_FILE)) refuse('deploy_registry', { to })
  if (files.has(configPath)) return
  if (isPagesOnly) refuse('deploy_not_pushed', { to })
  for (const path of files.keys()) {
    if (isOfHost(path)) continue
    const isOurs = isOwn(path) || (await tree.head(path))
    if (!isOurs || order(path) === 2) refuse('deploy_foreign', { to, path })
  }
  if (removes && [...files.keys()].some(isOwn)) refuse('deploy_unfinished', { to })
}
