// generator/git: The index as a git repository. The worker and builds call it; it never decides
// what is in the index.
import { existsSync } from 'node:fs'
import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { OnFailure } from '../../core/async/on-failure.ts'
import { type Issue, Refusal, warning } from '../../core/error/error.ts'
import { configPath, GIT_INDEX_FOLDER, indexPath, pathInGit } from '../../core/paths/tree.ts'
import type { ProcessMutex } from '../places/locks/process-mutex.ts'
import { renderConfig } from '../projections/index/config.ts'
import {
  followForGit,
  type GitBatch,
  gitBatch,
  markForGit,
  unfollowForGit,
} from '../records/git-batch.ts'
import { countMarks, settleMarks } from '../records/marks.ts'
import { readValue, writeValue } from '../records/values.ts'
import type { Registry } from '../registry/registry.ts'
import type { IndexChange, IndexFile } from './index-repository/engine.ts'
import { gitVersion } from './index-repository/git-process.ts'
import { type IndexRepository, openIndexRepository } from './index-repository/repository.ts'
import { Remote } from './push.ts'

/** The most crates in one commit: commits stay quick, and a first import needs few of them. */
const BATCH = 500

/** The key of the last committed audit event; missing before the first commit. */
export const LAST_EVENT = 'git_event'

/** The key of the value that says which repository was written last, where daemons have one each. */
const REPOSITORY = 'git_repository'

/** Called when something goes wrong with a git index; none of this makes a command fail. */
export interface GitIndexEvents {
  /** There is no git index, for this reason, and the settings do not require one. */
  readonly onMissing?: (refusal: Refusal) => void
  /** A push to a remote failed and will be tried again. */
  readonly onPushFailure?: OnFailure<Refusal>
}

/**
 * The git index of a registry, which follows the records commit by commit. Pending crates are
 * marked in the records, so a failure or a crash only delays a commit. Only one process writes at a
 * time.
 */
export class GitIndex {
  readonly #registry: Registry
  readonly #repository: IndexRepository
  readonly #remotes: readonly Remote[]
  readonly #mutex: ProcessMutex
  /** Whether this process has committed config.json since it leads; it does not change meanwhile. */
  #hasConfig = false

  private constructor(
    registry: Registry,
    repository: IndexRepository,
    onPushFailure: OnFailure<Refusal> = () => undefined,
  ) {
    this.#registry = registry
    this.#repository = repository
    this.#mutex = registry.locks.mutex('git')
    const onFailure: OnFailure<Refusal> = failure => onPushFailure(failure)
    onFailure.done = () =>
      this.#remotes.some(({ isFailing }) => isFailing) || onPushFailure.done?.()
    const options = { path: gitIndexPath(registry), onFailure }
    this.#remotes = registry.settings.git.push.map(remote => new Remote(remote, options))
  }

  /**
   * Does what `open` does, for the process that keeps the index up to date: without an engine,
   * changes are no longer marked. The next process that opens the index with an engine catches up.
   * Without the lease, another daemon does all this; `lead` begins when it ends.
   */
  static async openToUpdate(
    registry: Registry,
    events: GitIndexEvents = {},
    hasLease = true,
  ): Promise<GitIndex | null> {
    const git = await GitIndex.open(registry, events)
    if (!hasLease) return git
    await git?.lead()
    if (!git) await unfollowForGit(registry.database)
    if (registry.settings.git.index === 'off') await setGitIndexAside(registry)
    return git
  }

  /** Opens or creates the repository; returns null if it is switched off or there is no engine. */
  static async open(
    registry: Registry,
    { onMissing, onPushFailure }: GitIndexEvents = {},
  ): Promise<GitIndex | null> {
    const { index, engine } = registry.settings.git
    if (index === 'off') return null
    try {
      await bringGitIndexBack(registry)
      const repository = await openIndexRepository({ path: gitIndexPath(registry), engine })
      return new GitIndex(registry, repository, onPushFailure)
    } catch (error) {
      if (!(error instanceof Refusal) || index === 'on') throw error
      onMissing?.(error)
      return null
    }
  }

  /** Begins to keep the index up to date in this process. */
  async lead(): Promise<void> {
    const { database } = this.#registry
    const isOther = await isWrittenElsewhere(this.#registry)
    // The marks were for another repository: the first commit to this one contains all crates.
    if (isOther || (await this.#repository.head()) === null) await unfollowForGit(database)
    if (isOther) await writeValue(database, REPOSITORY, hostAndPath(this.#registry))
    // The next commit also marks all crates if they have to be.
    this.#hasConfig = false
  }

  /** Commits everything pending and returns the number of commits. Pushes run in the background. */
  async commit(): Promise<number> {
    // Checked every few seconds, so an index that is up to date must start no program.
    const pending = await countMarks(this.#registry.database, ['git'], 1)
    if (this.#hasConfig && pending.length === 0) return 0
    let commits = 0
    for (;;) {
      const done = await this.#mutex.run(() => this.#commitBatch())
      if (done.committed) commits++
      if (!done.more) break
    }
    if (commits > 0) {
      this.#push()
      // Outside the mutex: a full packing takes long, and commits should not wait for it.
      await this.#repository.maintain()
    }
    return commits
  }

  /**
   * Updates only config.json at HEAD, which is quick however much is pending. Does nothing before
   * the first commit. Also pushes what an earlier process could not push.
   */
  async commitConfig(): Promise<void> {
    await this.#mutex.run(async () => {
      if ((await this.#repository.head()) === null) return
      const info = { message: 'config.json', time: new Date(0) }
      await this.#repository.commit([this.#config()], info)
      this.#push()
    })
  }

  list(): AsyncIterable<IndexFile> {
    return this.#repository.list()
  }

  /** Commits the records' state of these crates, and removes files that belong to no crate. */
  async repair(crateIds: readonly number[], strays: readonly string[]): Promise<void> {
    await markForGit(this.#registry.database, crateIds)
    if (strays.length > 0) {
      const changes = strays.map(path => ({ path, bytes: null }))
      const info = { message: `${strays.length} files that are no crate's`, time: new Date(0) }
      await this.#mutex.run(() => this.#repository.commit(changes, info))
    }
    await this.commit()
  }

  /** Waits for running commits, and for up to a few seconds for running pushes. */
  async close(): Promise<void> {
    await Promise.all(this.#remotes.map(remote => remote.close()))
    await this.#repository.close()
    await this.#mutex.close()
  }

  #push(): void {
    for (const remote of this.#remotes) remote.request()
  }

  async #commitBatch(): Promise<{ committed: boolean; more: boolean }> {
    const { database } = this.#registry
    await followForGit(database)
    const after = Number((await readValue(database, LAST_EVENT)) ?? 0)
    const batch = await gitBatch(database, after, BATCH)
    this.#mutex.renders(batch.marks)
    const changes = batch.crates.map(({ name, text }): IndexChange => {
      return { path: pathInGit(indexPath(name)), bytes: text === null ? null : Buffer.from(text) }
    })
    const id = await this.#repository.commit([this.#config(), ...changes], {
      message: commitMessage(batch),
      // The time of the last change, so that equal histories have equal commits; else the epoch.
      time: new Date(batch.events.at(-1)?.at ?? 0),
    })
    this.#hasConfig = true
    const last = String(batch.last)
    await settleMarks(database, batch.marks, [], tx => writeValue(tx, LAST_EVENT, last))
    return { committed: id !== null, more: batch.marks.length === BATCH }
  }

  #config(): IndexChange {
    const { urls, authRequired } = this.#registry
    return { path: pathInGit(configPath), bytes: renderConfig(urls, authRequired).bytes }
  }
}

/** Returns why Cargo cannot fetch the index from a daemon on this machine; null when it can. */
export async function fetchProblem(): Promise<Issue | null> {
  return (await gitVersion('git')) === null ? warning('git_upload_pack_missing') : null
}

/** Returns whether another repository is the newest: daemons that share a bucket have one each. */
export async function isWrittenElsewhere(registry: Registry): Promise<boolean> {
  const { database, tree } = registry
  return tree.shared !== null && (await readValue(database, REPOSITORY)) !== hostAndPath(registry)
}

function hostAndPath(registry: Registry): string {
  return `${hostname()} ${gitIndexPath(registry)}`
}

/**
 * Moves a repository that is switched off out of the public tree, where it would become outdated:
 * clients get an error instead of an old index. The history comes back with `"on"`.
 */
export async function setGitIndexAside(registry: Registry): Promise<void> {
  const path = gitIndexPath(registry)
  if (!existsSync(path)) return
  await rm(asidePath(registry), { recursive: true, force: true })
  await rename(path, asidePath(registry))
  await chmod(asidePath(registry), 0o700)
}

/** Moves a repository that is switched on again back into the public tree. */
export async function bringGitIndexBack(registry: Registry): Promise<void> {
  const path = gitIndexPath(registry)
  if (existsSync(path) || !existsSync(asidePath(registry))) return
  await mkdir(dirname(path), { recursive: true })
  await rename(asidePath(registry), path)
  // Public again, as far as the process makes anything public.
  await chmod(path, 0o777 & ~process.umask())
}

function asidePath(registry: Registry): string {
  return join(registry.dir, 'index.git.off')
}

/** Returns the path of a registry's repository. */
export function gitIndexPath(registry: Registry): string {
  return registry.tree.path(GIT_INDEX_FOLDER)
}

/** Returns action, crate, version and actor; for several changes, a summary and their lines. */
function commitMessage({ crates, events }: GitBatch): string {
  const [first, ...more] = events.map(({ action, crate, version, actor }) => {
    const what = version === null ? crate : `${crate} ${version}`
    return `${action} ${what} by ${actor}`
  })
  if (first === undefined)
    return crates.length === 0 ? 'config.json' : `${crates.length} crates as the records have them`
  return more.length === 0 ? first : [`${events.length} changes\n`, first, ...more].join('\n')
}
