import { refuse } from '../../core/error/error.ts'
import { isOwnPath } from '../../core/paths/own.ts'
import { configPath } from '../../core/paths/tree.ts'
import type { OwnDl } from '../../core/urls/dl-template.ts'
import type { Progress } from '../build/build.ts'
import { PublicTree } from '../places/public-tree.ts'
import { inTurns, stageOf } from '../places/upload-order.ts'
import { DATABASE_FILE, SETTINGS_FILE } from '../registry.ts'
import type { DeployTarget, ListedFile } from './target.ts'

/** An upload of a public tree. */
export interface Deployment {
  /** The folder with the tree. */
  readonly from: string
  readonly to: DeployTarget
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

/** What an upload changed, or would change. */
export interface Deployed {
  readonly uploaded: readonly string[]
  readonly unchanged: number
  readonly removed: readonly string[]
  /** The files that only the target has; they stay unless they are removed. */
  readonly surplus: number
  /** Those of them that no tree has, such as files of an operator; they always stay. */
  readonly foreign: readonly string[]
  readonly bytes: number
}

/**
 * Makes a folder or bucket equal to a public tree: uploads only what differs, `.crate` files first,
 * the index next, pages last, so that readers never see a line without its `.crate`. Once stopped,
 * it goes on where it was. Refuses a target that is neither empty nor a tree, and leaves alone what
 * no tree has. Needs memory for the paths of all files.
 */
export async function deploy(job: Deployment): Promise<Deployed> {
  const { from, to, removes, isPagesOnly = false, isTrial, progress } = job
  const tree = new PublicTree(from, 'never')
  if (!(await tree.has(configPath))) refuse('deploy_no_tree', { from })
  const left = new Map<string, ListedFile>()
  for await (const file of to.list()) {
    left.set(file.path, file)
    if (left.size % 1000 === 0) progress?.('listing files', left.size, 0)
  }
  await checkTarget(job, tree, left)
  const { isPackage, isOwn, stageFor } = rulesOf(job)
  const isLeft = (path: string) => isPagesOnly && (isPushed(path) || isPackage(path))
  for (const path of left.keys()) if (isLeft(path)) left.delete(path)
  const stages: string[][] = [[], [], []]
  let total = 0
  for await (const path of tree.list()) {
    if (isLeft(path)) continue
    stages[stageFor(path)]?.push(path)
    total++
  }
  const differing = new Set<string>()
  let [done, bytes] = [0, 0]
  for (const paths of stages) {
    await inTurns(paths.sort(), async path => {
      const content = await tree.read(path)
      // Somebody may be building the tree; whatever is removed there is no part of it.
      if (content === null) return
      const listed = left.get(path)
      left.delete(path)
      if (!listed || !(await to.has(listed, content))) {
        if (!isTrial) await to.put(path, content)
        differing.add(path)
        bytes += content.byteLength
      }
      done++
      progress?.('uploading files', done, total)
    })
  }
  const rest = [...left.keys()]
  const foreign = rest.filter(path => !isOwn(path)).sort()
  const removed = removes ? rest.filter(isOwn).sort((a, b) => stageFor(b) - stageFor(a)) : []
  if (!isTrial) {
    for (const stage of [2, 1, 0]) {
      const some = removed.filter(path => stageFor(path) === stage)
      await inTurns(some, path => to.remove(path))
    }
  }
  const uploaded = stages.flat().filter(path => differing.has(path))
  const unchanged = done - uploaded.length
  return { uploaded, unchanged, removed, surplus: left.size, foreign, bytes }
}

/** Returns which files are of a tree, and their order, with those to which its own `dl` leads. */
function rulesOf({ dl }: Deployment) {
  const isPackage = (path: string) => Boolean(dl?.find(path))
  return {
    isPackage,
    isOwn: (path: string) => isOwnPath(path) || isPackage(path),
    stageFor: (path: string) => (isPackage(path) ? 0 : stageOf(path)),
  }
}

/** What hosts and version control keep at the top of a folder, such as a checkout for Pages. */
const OF_HOST = /^(?:\.[^/]+(?:\/.*)?|CNAME)$/

/**
 * Refuses a target with these files unless it is empty, has a tree, or what a first upload that was
 * stopped may have left: that wrote the `config.json` after all `.crate` files and before all pages.
 */
async function checkTarget(
  job: Deployment,
  tree: PublicTree,
  files: ReadonlyMap<string, ListedFile>,
): Promise<void> {
  const { removes, isPagesOnly = false } = job
  const { place: to } = job.to
  const { isOwn, stageFor } = rulesOf(job)
  if (files.has(SETTINGS_FILE) || files.has(DATABASE_FILE)) refuse('deploy_registry', { to })
  if (files.has(configPath)) return
  if (isPagesOnly) refuse('deploy_not_pushed', { to })
  for (const path of files.keys()) {
    if (OF_HOST.test(path)) continue
    const isOurs = isOwn(path) || (await tree.has(path))
    if (!isOurs || stageFor(path) === 2) refuse('deploy_foreign', { to, path })
  }
  if (removes && [...files.keys()].some(isOwn)) refuse('deploy_unfinished', { to })
}

/** Whether a push writes this file. */
function isPushed(path: string): boolean {
  return path.endsWith('.crate') || /^(?:index|\.push)\//.test(path)
}
