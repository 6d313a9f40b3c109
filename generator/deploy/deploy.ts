import { refuse } from '../../core/error/error.ts'
import { configPath } from '../../core/paths/tree.ts'
import type { Progress } from '../build/build.ts'
import { PublicTree } from '../store/public-tree.ts'
import { stageOf } from '../store/upload-order.ts'
import type { DeployTarget } from './target.ts'

/** An upload of a public tree. */
export interface Deployment {
  /** The folder with the tree. */
  readonly from: string
  readonly to: DeployTarget
  /** Whether files are removed that the tree does not have. */
  readonly removes: boolean
  /** Whether sparse index and `.crate` files there stay as they are: pushes write them. */
  readonly isPagesOnly?: boolean
  /** Whether nothing is changed, but what would be is returned. */
  readonly isTrial: boolean
  readonly progress?: Progress
}

/** What an upload changed, or would change. */
export interface Deployed {
  readonly uploaded: readonly string[]
  readonly unchanged: number
  readonly removed: readonly string[]
  /** The files that only the target has; they stay unless they are removed. */
  readonly surplus: number
  readonly bytes: number
}

/** The most files that are compared or uploaded at a time. */
const AT_ONCE = 32

/**
 * Makes a folder or bucket equal to a public tree: uploads only what differs, `.crate` files first,
 * the index next, pages last, so that readers never see a line without its `.crate`. Once stopped,
 * it goes on where it was. Needs memory for the paths of all files.
 */
export async function deploy({
  from,
  to,
  removes,
  isPagesOnly = false,
  isTrial,
  progress,
}: Deployment): Promise<Deployed> {
  const tree = new PublicTree(from, 'never')
  if (!(await tree.has(configPath))) refuse('deploy_no_tree', { from })
  const surplus = new Set<string>()
  for await (const path of to.list()) {
    surplus.add(path)
    if (surplus.size % 1000 === 0) progress?.('listing files', surplus.size, 0)
  }
  if (removes && surplus.size > 0 && !surplus.has(configPath))
    refuse('deploy_foreign', { to: to.place })
  const isLeft = (path: string) => isPagesOnly && isPushed(path)
  for (const path of surplus) if (isLeft(path)) surplus.delete(path)
  const stages: string[][] = [[], [], []]
  let total = 0
  for await (const path of tree.list()) {
    if (isLeft(path)) continue
    stages[stageOf(path)]?.push(path)
    total++
  }
  const differing = new Set<string>()
  let [done, bytes] = [0, 0]
  for (const paths of stages) {
    await inTurns(paths.sort(), async path => {
      const content = await tree.read(path)
      // Somebody may be building the tree; whatever is removed there is no part of it.
      if (content === null) return
      const isListed = surplus.delete(path)
      if (!isListed || !(await to.has(path, content))) {
        if (!isTrial) await to.put(path, content)
        differing.add(path)
        bytes += content.byteLength
      }
      done++
      progress?.('uploading files', done, total)
    })
  }
  const removed = removes ? [...surplus].sort((a, b) => stageOf(b) - stageOf(a)) : []
  if (!isTrial) {
    for (const stage of [2, 1, 0]) {
      const some = removed.filter(path => stageOf(path) === stage)
      await inTurns(some, path => to.remove(path))
    }
  }
  const uploaded = stages.flat().filter(path => differing.has(path))
  return { uploaded, unchanged: done - uploaded.length, removed, surplus: surplus.size, bytes }
}

/** Whether a push writes this file. */
function isPushed(path: string): boolean {
  return path.endsWith('.crate') || /^(?:index|\.push)\//.test(path)
}

/** Runs `work` for all items, some at a time; stops after the first failure and throws it. */
async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items[Symbol.iterator]()
  let isFailing = false
  const run = async () => {
    for (const item of left) {
      if (isFailing) return
      await work(item)
    }
  }
  const runs = Array.from({ length: AT_ONCE }, () =>
    run().catch(error => {
      isFailing = true
      throw error
    }),
  )
  for (const end of await Promise.allSettled(runs)) if (end.status === 'rejected') throw end.reason
}
