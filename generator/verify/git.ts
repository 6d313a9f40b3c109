import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { collect, type Issue, issue, Refusal } from '../../core/error/error.ts'
import {
  configPath,
  GIT_INDEX_FOLDER,
  INDEX_FOLDER,
  indexPath,
} from '../../core/paths/index-files.ts'
import {
  bringGitIndexBack,
  GitIndex,
  gitIndexPath,
  LAST_EVENT,
  setGitIndexAside,
} from '../git/git-index.ts'
import { blobId } from '../git/index-repository/bare-repository.ts'
import { headFault, objectFault } from '../git/index-repository/integrity.ts'
import { type Engine, findEngine } from '../git/index-repository/open.ts'
import { recoverHistory } from '../git/index-repository/recovery.ts'
import { checkPath } from '../git/index-repository/repository.ts'
import type { Registry } from '../registry.ts'
import { renderConfig, renderIndex } from '../render/index-files.ts'
import { eachCrate } from '../store/catalog/crates.ts'
import { readFact } from '../store/catalog/facts.ts'
import { unfollowForGit } from '../store/catalog/git-batch.ts'
import { isMarked } from '../store/catalog/marks.ts'
import { indexLines } from '../store/catalog/releases.ts'
import { derivable, type Finding, type VerifyOptions } from './finding.ts'

/** What differs between catalog and git index: paths below the index, and the crate they are of. */
interface Difference {
  readonly path: string
  readonly crateId: number | null
  readonly what: string
}

/**
 * Compares the git index at HEAD with the catalog: every crate's file, and no other. Repairing
 * commits differences; an unreadable repository is replaced, keeping the readable part of its
 * history.
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
  const found = await findEngine({ engine }).catch(refusalOnly)
  if (found instanceof Refusal) {
    // Unless the settings insist, a machine without git has no git index: no fault.
    if (index === 'on')
      yield { where: GIT_INDEX_FOLDER, what: found.message, lost: false, repaired: false }
    return
  }
  if (options.repair) await bringGitIndexBack(registry)
  const damage = await damageOf(registry, found)
  if (damage === null) {
    yield* await verifyContent(registry, options)
    return
  }
  // Not under the hands of a daemon: it has the old repository open.
  const isMended = options.repair && !options.served
  const fate = isMended ? `; ${await replaceRepository(registry, found)}` : ''
  yield { where: GIT_INDEX_FOLDER, what: `${damage}${fate}`, lost: false, repaired: isMended }
}

function refusalOnly(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

/** What keeps the repository from being read; null when nothing does, or there never was one. */
async function damageOf(registry: Registry, { command }: Engine): Promise<string | null> {
  const path = gitIndexPath(registry)
  if (!existsSync(path))
    return (await readFact(registry.database, LAST_EVENT)) === null
      ? null
      : 'the repository is missing'
  const damage = await headFault(path)
  if (damage !== null) return damage
  if (command === null) return await unreadable(registry)
  // A packing daemon may remove a file during the check: only what is found twice counts.
  return (await objectFault(path, command)) && (await objectFault(path, command))
}

/** Without the executable: the library's error when it reads all of HEAD; it has no type. */
async function unreadable(registry: Registry): Promise<string | null> {
  const git = await GitIndex.open(registry)
  try {
    for await (const _ of git?.list() ?? []);
    return null
  } catch (error) {
    return `HEAD cannot be read: ${error instanceof Error ? error.message : error}`
  } finally {
    await git?.close()
  }
}

async function verifyContent(registry: Registry, options: VerifyOptions): Promise<Finding[]> {
  if (!existsSync(gitIndexPath(registry))) return []
  const git = await GitIndex.open(registry)
  if (!git) return []
  try {
    return await compareContent(registry, git, options)
  } finally {
    await git.close()
  }
}

async function compareContent(
  registry: Registry,
  git: GitIndex,
  options: VerifyOptions,
): Promise<Finding[]> {
  if ((await differences(registry, git)).length === 0) return []
  // Compared again: a daemon may have committed meanwhile, and what it has yet to commit is marked.
  const found: Difference[] = []
  let waiting = 0
  for (const one of await differences(registry, git)) {
    if (
      one.crateId !== null &&
      (await isMarked(registry.database, { kind: 'git', subject: one.crateId }))
    )
      waiting++
    else found.push(one)
  }
  if (options.repair) {
    const crates = found.flatMap(one => (one.crateId === null ? [] : [one.crateId]))
    const strays = found
      .filter(one => one.crateId === null && one.path !== CONFIG)
      .map(one => one.path)
    await git.repair(crates, strays.filter(isRemovable))
  }
  const left = new Set(
    options.repair ? (await differences(registry, git)).map(one => one.path) : [],
  )
  const findings = found.map(({ path, what }) =>
    finding(path, what, options.repair && !left.has(path)),
  )
  if (waiting > 0 && !options.served) {
    const what = `${waiting} crates wait to be committed; \`plimsoll build\` does it`
    findings.push({
      where: GIT_INDEX_FOLDER,
      what,
      lost: false,
      repaired: options.repair && left.size === 0,
    })
  }
  return findings
}

const CONFIG = configPath.slice(INDEX_FOLDER.length + 1)

async function differences(registry: Registry, git: GitIndex): Promise<Difference[]> {
  const { database, urls, authRequired } = registry
  const listed = new Map<string, string>()
  for await (const { path, id } of git.list()) listed.set(path, id)
  const found: Difference[] = []
  const compare = (path: string, bytes: Uint8Array, crateId: number | null) => {
    const id = listed.get(path)
    listed.delete(path)
    if (id === undefined) found.push({ path, crateId, what: 'is missing from the git index' })
    else if (id !== blobId(bytes))
      found.push({ path, crateId, what: 'differs from the catalog in the git index' })
  }
  compare(CONFIG, renderConfig(urls, authRequired).bytes, null)
  for await (const { id, name } of eachCrate(database)) {
    const lines = await indexLines(database, id)
    const path = indexPath(name).slice(INDEX_FOLDER.length + 1)
    if (lines.length > 0) compare(path, renderIndex(name, lines).bytes, id)
    else if (listed.delete(path))
      found.push({ path, crateId: id, what: 'has no versions left, but is in the git index' })
  }
  for (const path of listed.keys()) {
    found.push({
      path,
      crateId: null,
      what: 'belongs to no crate of the catalog, but is in the git index',
    })
  }
  return found
}

function finding(path: string, what: string, repaired: boolean): Finding {
  return { where: `${GIT_INDEX_FOLDER}:${path}`, what, lost: false, repaired }
}

/** Whether the engines accept the path; one that somebody else has committed may be invalid. */
function isRemovable(path: string): boolean {
  const issues: Issue[] = []
  collect(issues, () => checkPath(path))
  return issues.length === 0
}

/**
 * Replaces a damaged repository, and says what became of its history. Without the git executable
 * the history starts over; Cargo fetches it like any other change.
 */
async function replaceRepository(registry: Registry, { command }: Engine): Promise<string> {
  const path = gitIndexPath(registry)
  const [fresh, old] = [`${path}.new`, `${path}.old`]
  // A repair that was killed half-way has left only this.
  if (!existsSync(path) && existsSync(old)) await rename(old, path)
  const kept =
    command !== null && existsSync(path)
      ? await recoverHistory({ from: path, to: fresh, command })
      : 0
  await rm(old, { recursive: true, force: true })
  if (existsSync(path)) await rename(path, old)
  if (kept > 0) await rename(fresh, path)
  await rm(old, { recursive: true, force: true })
  // All crates are compared with what was kept.
  await unfollowForGit(registry.database)
  const git = await GitIndex.open(registry)
  try {
    await git?.commit()
  } finally {
    await git?.close()
  }
  return kept === 0
    ? 'its history begins anew'
    : `${kept} ${kept === 1 ? 'commit' : 'commits'} of its history were kept`
}
