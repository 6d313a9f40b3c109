import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../../../core/error/error.ts'
import { writeDurably } from '../../store/durable-file.ts'
import { BRANCH, ensureBare, updateServerInfo } from './bare-repository.ts'
import { captureGit, finish, type GitAt, runGit, startGit } from './git-process.ts'
import { syncIfThere, syncTogether } from './repository-file.ts'

/** What is saved, and where it goes. */
export interface Recovery {
  /** The damaged repository; only its objects are read, and nothing in it changes. */
  readonly from: string
  /** Becomes a new repository; what was there goes. */
  readonly to: string
  readonly command: string
}

/**
 * Makes a new repository from the longest readable part of a damaged one's history, from a newest
 * commit down to the first. Returns the number of its commits; with 0 there is no new repository.
 * Every object is unpacked and hashed.
 */
export async function recoverHistory({ from, to, command }: Recovery): Promise<number> {
  const git: GitAt = { command, path: to }
  await startFrom(from, to)
  for (const tip of await tips(git)) {
    const line = await lineOf(git, tip)
    const at = await newestReadable(line, commit => isReadable(git, commit))
    const commit = line[at]
    if (commit === undefined) continue
    await startFrom(from, to)
    await copyCommit(git, commit)
    await rm(alternates(to))
    await writeDurably(join(to, BRANCH), Buffer.from(`${commit}\n`))
    await syncTogether([join(to, 'objects', 'pack'), join(to, 'refs', 'heads')])
    await updateServerInfo(to)
    return line.length - at
  }
  await rm(to, { recursive: true, force: true })
  return 0
}

/** An empty repository that sees the objects of another, and none of its refs. */
async function startFrom(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await ensureBare(to)
  await writeDurably(alternates(to), Buffer.from(`${join(from, 'objects')}\n`))
  await syncIfThere(join(to, 'objects', 'info'))
}

function alternates(path: string): string {
  return join(path, 'objects', 'info', 'alternates')
}

/** Readable commits that no readable commit has as its parent, newest first. */
async function tips(git: GitAt): Promise<string[]> {
  const said = await captureGit(git, ['fsck', '--full', '--no-progress'])
  const ids = [...said.matchAll(/^dangling commit ([0-9a-f]{40})$/gm)].map(match => match[1] ?? '')
  if (ids.length === 0) return []
  const sorted = await runGit(git, ['rev-list', '--no-walk=sorted', ...ids.slice(0, 1000)])
  return sorted.toString().trim().split('\n')
}

/**
 * A commit and its ancestors; none when one is unreadable: what lies before that one has its own
 * tip.
 */
async function lineOf(git: GitAt, tip: string): Promise<string[]> {
  try {
    return (await runGit(git, ['rev-list', '--first-parent', tip])).toString().trim().split('\n')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return []
  }
}

/** The newest readable commit of a line, by its place; if one is readable, so are all before it. */
async function newestReadable(
  line: readonly string[],
  isReadable: (commit: string) => Promise<boolean>,
) {
  let [low, high] = [0, line.length]
  // The newest first: usually the history is fine, and only the way to it is damaged.
  for (let at = low; low < high; at = (low + high) >> 1) {
    if (await isReadable(line[at] ?? '')) high = at
    else low = at + 1
  }
  return low
}

async function isReadable(git: GitAt, commit: string): Promise<boolean> {
  try {
    await copyCommit(git, commit)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return false
  }
}

/** Copies a commit with all its objects: unpacked on one side, hashed on the other. */
async function copyCommit(git: GitAt, commit: string): Promise<void> {
  const packer = startGit(git, [
    'pack-objects',
    '--revs',
    '--stdout',
    '-q',
    '--no-use-bitmap-index',
  ])
  const indexer = startGit(git, ['index-pack', '--stdin', '--check-self-contained-and-connected'])
  indexer.stdout.resume()
  packer.stdin.end(`${commit}\n`)
  const ends = [finish(packer, 'pack-objects'), finish(indexer, 'index-pack')]
  // A packer that fails ends the stream early; the exit codes tell which of the two it was.
  const flow = pipeline(packer.stdout, indexer.stdin).catch(() => undefined)
  const [packed, indexed] = await Promise.allSettled(ends)
  await flow
  for (const end of [packed, indexed]) if (end?.status === 'rejected') throw end.reason
}
