import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { issue, Refusal, refusalOnly } from '../../core/error/error.ts'
import { configPath, GIT_INDEX_FOLDER, indexPath, pathInGit } from '../../core/paths/tree.ts'
import {
  bringGitIndexBack,
  GitIndex,
  gitIndexPath,
  isWrittenElsewhere,
  LAST_EVENT,
  setGitIndexAside,
} from '../git/git-index.ts'
import { blobId, headFault, objectFault } from '../git/index-repository/bare-repository.ts'
import { isIndexPath } from '../git/index-repository/engine.ts'
import { type FoundEngine, findEngine } from '../git/index-repository/repository.ts'
import { renderConfig } from '../projections/index/config.ts'
import { eachCrate } from '../records/crates.ts'
import { unfollowForGit } from '../records/git-batch.ts'
import { isMarked } from '../records/marks.ts'
import { indexFiles } from '../records/releases.ts'
import { readValue } from '../records/values.ts'
import type { Registry } from '../registry/registry.ts'
import { derivable, type Finding, unlessPending, type VerifyOptions } from './finding.ts'

interface Difference {
  readonly path: string
  readonly crateId: number | null
  readonly what: string
}

/**
 * Compares the git index at HEAD with the records: each crate's file, and no other files. A repair
 * commits differences; it replaces an unreadable repository by one whose history starts over.
 * Leaves out a repository while another daemon writes the newest.
 */
export async function* verifyGit(
  registry: Registry,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  const { index, engine } = registry.settings.git
  if (index === 'off') {
    if (!existsSync(gitIndexPath(registry))) return
    if (options.repair) await setGitIndexAside(registry)
    yield derivable(GIT_INDEX_FOLDER, issue('git_switched_off').message, options.repair)
    return
  }
  if (await isWrittenElsewhere(registry)) return
  const engineHere = await findEngine({ engine }).catch(refusalOnly)
  if (engineHere instanceof Refusal) {
    // Without git there is no git index; that is a fault only if the settings require one.
    if (index === 'on') yield derivable(GIT_INDEX_FOLDER, engineHere.message)
    return
  }
  if (options.repair) await bringGitIndexBack(registry)
  const damage = await damageOf(registry, engineHere)
  if (damage === null) {
    if (existsSync(gitIndexPath(registry)))
      yield* (await withIndex(registry, git => compareContent(registry, git, options))) ?? []
    return
  }
  // Not while a daemon is running: it has the old repository open.
  const isMended = options.repair && !options.served
  if (isMended) {
    await rm(gitIndexPath(registry), { recursive: true, force: true })
    // Marks all crates again.
    await unfollowForGit(registry.database)
    await withIndex(registry, git => git.commit())
  }
  const fate = isMended ? '; its history starts over' : ''
  yield derivable(GIT_INDEX_FOLDER, `${damage}${fate}`, isMended)
}

async function withIndex<T>(
  registry: Registry,
  work: (git: GitIndex) => Promise<T>,
): Promise<T | null> {
  const git = await GitIndex.open(registry)
  try {
    return git && (await work(git))
  } finally {
    await git?.close()
  }
}

/** Returns why the repository cannot be read; null when it can, or when there never was one. */
async function damageOf(registry: Registry, { command }: FoundEngine): Promise<string | null> {
  const path = gitIndexPath(registry)
  if (!existsSync(path)) {
    const wasThere = (await readValue(registry.database, LAST_EVENT)) !== null
    return wasThere ? 'the repository is missing' : null
  }
  const damage = await headFault(path)
  if (damage !== null) return damage
  if (command === null) return await withIndex(registry, unreadable)
  // A daemon may remove a file during the check by packing, so only a fault found twice counts.
  return (await objectFault({ command, path })) && (await objectFault({ command, path }))
}

/** Reads all of HEAD without the executable; returns the library's error, which has no type. */
async function unreadable(git: GitIndex): Promise<string | null> {
  try {
    for await (const _ of git.list());
    return null
  } catch (error) {
    return `HEAD cannot be read: ${error instanceof Error ? error.message : error}`
  }
}

async function compareContent(
  registry: Registry,
  git: GitIndex,
  options: VerifyOptions,
): Promise<Finding[]> {
  const { repair } = options
  if ((await differences(registry, git)).length === 0) return []
  // Compare again: a daemon may have committed meanwhile, and its pending changes are marked.
  const confirmed: Difference[] = []
  const waiting: Difference[] = []
  for (const difference of await differences(registry, git)) {
    const { crateId } = difference
    const isWaiting =
      crateId !== null && (await isMarked(registry.database, { kind: 'git', subject: crateId }))
    const list = isWaiting ? waiting : confirmed
    list.push(difference)
  }
  if (repair) {
    const crates = confirmed.flatMap(({ crateId }) => (crateId === null ? [] : [crateId]))
    const strays = confirmed.filter(
      ({ crateId, path }) => crateId === null && path !== pathInGit(configPath),
    )
    // The engines accept only index paths; a commit by another program may contain others.
    await git.repair(crates, strays.map(stray => stray.path).filter(isIndexPath))
  }
  const left = new Set(repair ? (await differences(registry, git)).map(({ path }) => path) : [])
  const finding = ({ path, what }: Difference) =>
    derivable(`${GIT_INDEX_FOLDER}:${path}`, what, repair && !left.has(path))
  return [...confirmed.map(finding), ...unlessPending(waiting.map(finding), true, options)]
}

async function differences(registry: Registry, git: GitIndex): Promise<Difference[]> {
  const { database, urls, authRequired } = registry
  const listed = new Map<string, string>()
  for await (const { path, id } of git.list()) listed.set(path, id)
  const differences: Difference[] = []
  const compare = (path: string, bytes: Uint8Array, crateId: number | null) => {
    const id = listed.get(path)
    listed.delete(path)
    if (id === undefined) differences.push({ path, crateId, what: 'is missing from the git index' })
    else if (id !== blobId(bytes))
      differences.push({ path, crateId, what: 'differs from the records in the git index' })
  }
  compare(pathInGit(configPath), renderConfig(urls, authRequired).bytes, null)
  for await (const { id: crateId, name } of eachCrate(database)) {
    const [crate] = await indexFiles(database, [crateId])
    const path = pathInGit(indexPath(name))
    if (crate?.text) compare(path, Buffer.from(crate.text), crateId)
    else if (listed.delete(path))
      differences.push({ path, crateId, what: 'has no versions left, but is in the git index' })
  }
  const what = 'belongs to no crate of the records, but is in the git index'
  for (const path of listed.keys()) differences.push({ path, crateId: null, what })
  return differences
}
