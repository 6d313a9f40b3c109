import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { Refusal, refusalOnly } from '../../../core/error/error.ts'
import { syncFolder, writeDurably } from '../../places/disk/durable.ts'
import { readFolder, readText } from '../../places/disk/files.ts'
import { BRANCH, ensureBare, readHead, updateServerInfo } from './bare-repository.ts'
import { finish, type GitAt, runGit, startGit } from './git-process.ts'

/** Returns the fault of HEAD or its commit, or null. Changes nothing. */
export async function headFault(path: string): Promise<string | null> {
  if ((await readText(join(path, 'HEAD'))) === null) return 'HEAD is missing'
  const head = await readHead(path).catch(refusalOnly)
  if (head instanceof Refusal) return head.message
  if (head !== null || !(await hasObjects(path))) return null
  return 'HEAD leads to a branch without a commit, though there are commits'
}

/** Returns the first fault that git finds in the repository, checking HEAD first; null for none. */
export async function objectFault(git: GitAt): Promise<string | null> {
  const head = await readHead(git.path)
  if (head === null) return null
  if (await failure(runGit(git, ['cat-file', 'commit', head])))
    return `HEAD points at commit ${head}, which is missing or cannot be read`
  return await failure(runGit(git, ['fsck', '--full', '--no-dangling', '--no-progress']))
}

async function failure(work: Promise<unknown>): Promise<string | null> {
  const result = await work.catch(refusalOnly)
  return result instanceof Refusal ? result.message : null
}

async function hasObjects(path: string): Promise<boolean> {
  const objects = await readFolder(join(path, 'objects'))
  const packs = await readFolder(join(path, 'objects', 'pack'))
  return (
    objects.some(({ name }) => /^[0-9a-f]{2}$/.test(name)) ||
    packs.some(({ name }) => name.endsWith('.pack'))
  )
}

/**
 * Creates a repository at `git.path` from the longest readable history in `damaged`, from a newest
 * commit down to the first; changes nothing in `damaged`. Returns the number of commits; with 0
 * there is no new repository. Every object is unpacked and hashed.
 */
export async function recoverHistory(damaged: string, git: GitAt): Promise<number> {
  const to = git.path
  await startFrom(damaged, to)
  for (const tip of await tips(git)) {
    const line = await lineOf(git, tip)
    const at = await newestReadable(git, line)
    const commit = line[at]
    if (commit === undefined) continue
    await startFrom(damaged, to)
    await copyCommit(git, commit)
    await rm(alternates(to))
    await syncFolder(join(to, 'objects', 'pack'))
    await writeDurably(join(to, BRANCH), Buffer.from(`${commit}\n`))
    await updateServerInfo(to)
    return line.length - at
  }
  await rm(to, { recursive: true, force: true })
  return 0
}

/** Creates an empty repository that has the objects of another repository, but none of its refs. */
async function startFrom(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await ensureBare(to)
  await writeDurably(alternates(to), Buffer.from(`${join(from, 'objects')}\n`))
}

function alternates(path: string): string {
  return join(path, 'objects', 'info', 'alternates')
}

/** Returns the readable commits that are no readable commit's parent, newest first. */
async function tips(git: GitAt): Promise<string[]> {
  const checking = startGit(git, ['fsck', '--full', '--no-progress'])
  checking.stdin.end()
  // Its exit code also reports faults, so a failure is ignored.
  const [log] = await Promise.all([
    text(checking.stdout),
    finish(checking, 'fsck').catch(refusalOnly),
  ])
  const ids = [...log.matchAll(/^dangling commit ([0-9a-f]{40})$/gm)].map(match => match[1] ?? '')
  if (ids.length === 0) return []
  return linesOf(await runGit(git, ['rev-list', '--no-walk=sorted', ...ids.slice(0, 1000)]))
}

/** Returns a commit and its ancestors; none if one is unreadable: older ones have another tip. */
async function lineOf(git: GitAt, tip: string): Promise<string[]> {
  const listed = await runGit(git, ['rev-list', '--first-parent', tip]).catch(refusalOnly)
  return listed instanceof Refusal ? [] : linesOf(listed)
}

function linesOf(output: Buffer): string[] {
  return output.toString().trim().split('\n')
}

/** Returns the index of the newest readable commit in a line; all older ones are readable, too. */
async function newestReadable(git: GitAt, line: readonly string[]): Promise<number> {
  let [low, high] = [0, line.length]
  // The newest first: usually the history is intact, and only a ref to it is damaged.
  for (let at = low; low < high; at = (low + high) >> 1) {
    if ((await failure(copyCommit(git, line[at] ?? ''))) === null) high = at
    else low = at + 1
  }
  return low
}

/** Copies a commit with all its objects: one process unpacks them, the other hashes them. */
async function copyCommit(git: GitAt, commit: string): Promise<void> {
  const packing = ['pack-objects', '--revs', '--stdout', '-q', '--no-use-bitmap-index']
  const packer = startGit(git, packing)
  const indexer = startGit(git, ['index-pack', '--stdin', '--check-self-contained-and-connected'])
  indexer.stdout.resume()
  packer.stdin.end(`${commit}\n`)
  const ends = [finish(packer, 'pack-objects'), finish(indexer, 'index-pack')]
  // A failed packer ends the stream early; the exit codes show which process failed.
  const flow = pipeline(packer.stdout, indexer.stdin).catch(() => undefined)
  const [packed, indexed] = await Promise.allSettled(ends)
  await flow
  for (const end of [packed, indexed]) if (end?.status === 'rejected') throw end.reason
}
