import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Issue, Refusal, warning } from '../../core/error/error.ts'
import { configPath, GIT_INDEX_FOLDER, indexPath, pathInGit } from '../../core/paths/index-files.ts'
import { renderConfig, renderIndex } from '../build/crate.ts'
import type { Registry } from '../registry.ts'
import { readFact, writeFact } from '../store/catalog/facts.ts'
import {
  followForGit,
  type GitBatch,
  gitBatch,
  markForGit,
  unfollowForGit,
} from '../store/catalog/git-batch.ts'
import { clearMarks, listMarks } from '../store/catalog/marks.ts'
import { ProcessMutex } from '../store/process-mutex.ts'
import type { IndexChange, IndexFile } from './index-repository/engine.ts'
import { gitVersion } from './index-repository/git-process.ts'
import { type IndexRepository, openIndexRepository } from './index-repository/repository.ts'
import { IndexPush } from './push.ts'

/** Crates in one commit: a batch is committed quickly, and a first import needs few commits. */
const BATCH = 500

/** The fact with the last audit event that was committed; missing before the first commit. */
export const LAST_EVENT = 'git_event'

/** Called when something goes wrong with a git index; none of it fails a command. */
export interface GitIndexEvents {
  /** Why there is none, where settings do not insist on one. */
  readonly onMissing?: (refusal: Refusal) => void
  /** A push to a remote that did not arrive and is tried again. */
  readonly onPushFailure?: (failure: Refusal) => void
}

/**
 * The git index of a registry: follows the catalog, commit by commit. Pending crates are marked in
 * the catalog, so a failure or a crash only delays it. Writers of several processes exclude each
 * other.
 */
export class GitIndex {
  readonly #registry: Registry
  readonly #repository: IndexRepository
  readonly #push: IndexPush
  readonly #mutex: ProcessMutex
  /** Whether this process has committed config.json, which does not change while it runs. */
  #hasConfig = false

  private constructor(
    registry: Registry,
    repository: IndexRepository,
    onPushFailure?: (failure: Refusal) => void,
  ) {
    this.#registry = registry
    this.#repository = repository
    this.#mutex = new ProcessMutex(join(registry.dir, 'locks', 'git.lock'))
    this.#push = new IndexPush(registry.settings.git.push, {
      path: gitIndexPath(registry),
      ...(onPushFailure && { onFailure: onPushFailure }),
    })
  }

  /**
   * As `open`, for the process that keeps the index up to date: without an engine, changes are no
   * longer marked. The next one that opens the index with an engine catches up.
   */
  static async follow(registry: Registry, events: GitIndexEvents = {}): Promise<GitIndex | null> {
    const git = await GitIndex.open(registry, events)
    if (!git) await unfollowForGit(registry.database)
    if (registry.settings.git.index === 'off') await setGitIndexAside(registry)
    return git
  }

  /** Opens or makes the repository; null where the settings or the machine have none. */
  static async open(
    registry: Registry,
    { onMissing, onPushFailure }: GitIndexEvents = {},
  ): Promise<GitIndex | null> {
    const { index, engine } = registry.settings.git
    if (index === 'off') return null
    try {
      await bringGitIndexBack(registry)
      const repository = await openIndexRepository({ path: gitIndexPath(registry), engine })
      // These marks were for another repository: the first commit to this one has all crates.
      if ((await repository.head()) === null) await unfollowForGit(registry.database)
      return new GitIndex(registry, repository, onPushFailure)
    } catch (error) {
      if (!(error instanceof Refusal) || index === 'on') throw error
      onMissing?.(error)
      return null
    }
  }

  /** Commits everything that waits; the number of commits. The remotes follow on their own. */
  async commit(): Promise<number> {
    if (await this.#isUpToDate()) return 0
    let commits = 0
    for (;;) {
      const done = await this.#mutex.run(() => this.#commitBatch())
      if (done.committed) commits++
      if (!done.more) break
    }
    if (commits > 0) {
      this.#push.request()
      // Outside the mutex: a full packing takes long, and commits go on during it.
      await this.#repository.maintain()
    }
    return commits
  }

  /**
   * Updates config.json at HEAD and nothing else: quick, whatever is pending. Does nothing before
   * the first commit. Remotes get what an earlier process could not push.
   */
  async commitConfig(): Promise<void> {
    await this.#mutex.run(async () => {
      if ((await this.#repository.head()) === null) return
      const info = { message: 'config.json', time: new Date(0) }
      await this.#repository.commit([this.#config()], info)
      this.#push.request()
    })
  }

  /** What the repository has at HEAD, for comparing. */
  list(): AsyncIterable<IndexFile> {
    return this.#repository.list()
  }

  /** Puts crates back as the catalog has them, and takes out files that are no crate's. */
  async repair(crateIds: readonly number[], strays: readonly string[]): Promise<void> {
    await markForGit(this.#registry.database, crateIds)
    if (strays.length > 0) {
      const changes = strays.map(path => ({ path, bytes: null }))
      const info = { message: `${strays.length} files that are no crate's`, time: new Date(0) }
      await this.#mutex.run(() => this.#repository.commit(changes, info))
    }
    await this.commit()
  }

  /** Lets running commits end, and running pushes for some seconds. */
  async close(): Promise<void> {
    await this.#push.close()
    await this.#repository.close()
    await this.#mutex.close()
  }

  /** Whether there is nothing to commit; asked every few seconds, it starts no program. */
  async #isUpToDate(): Promise<boolean> {
    if (!this.#hasConfig) return false
    return (await listMarks(this.#registry.database, 'git', 0, 1)).length === 0
  }

  async #commitBatch(): Promise<{ committed: boolean; more: boolean }> {
    const { database } = this.#registry
    await followForGit(database)
    const after = Number((await readFact(database, LAST_EVENT)) ?? 0)
    const batch = await gitBatch(database, after, BATCH)
    const changes = batch.crates.map(({ name, lines }) => ({
      path: pathInGit(indexPath(name)),
      bytes: lines.length > 0 ? renderIndex(name, lines).bytes : null,
    }))
    const id = await this.#repository.commit([this.#config(), ...changes], {
      message: commitMessage(batch),
      // Of the last change, so that equal histories make equal commits; else the epoch.
      time: new Date(batch.events.at(-1)?.at ?? 0),
    })
    this.#hasConfig = true
    await clearMarks(database, batch.marks)
    if (batch.last > after) await writeFact(database, LAST_EVENT, String(batch.last))
    return { committed: id !== null, more: batch.marks.length === BATCH }
  }

  #config(): IndexChange {
    const { urls, authRequired } = this.#registry
    return { path: pathInGit(configPath), bytes: renderConfig(urls, authRequired).bytes }
  }
}

/** Why Cargo cannot fetch the index from a daemon of this machine; null when it can. */
export async function fetchProblem(): Promise<Issue | null> {
  return (await gitVersion('git')) === null ? warning('git_upload_pack_missing') : null
}

/**
 * Moves a repository that settings have switched off out of the public tree, where it would fall
 * behind: readers of it get an error instead of an old index. The history comes back with `"on"`.
 */
export async function setGitIndexAside(registry: Registry): Promise<void> {
  const path = gitIndexPath(registry)
  if (!existsSync(path)) return
  await rm(asidePath(registry), { recursive: true, force: true })
  await rename(path, asidePath(registry))
}

/** Puts a repository that settings have switched on again back into the public tree. */
export async function bringGitIndexBack(registry: Registry): Promise<void> {
  const path = gitIndexPath(registry)
  if (existsSync(path) || !existsSync(asidePath(registry))) return
  await mkdir(dirname(path), { recursive: true })
  await rename(asidePath(registry), path)
}

function asidePath(registry: Registry): string {
  return join(registry.dir, 'index.git.off')
}

/** Path of a registry's repository. */
export function gitIndexPath(registry: Registry): string {
  return registry.tree.path(GIT_INDEX_FOLDER)
}

/** Names crate, version, action and actor; several changes get a line each below a summary. */
function commitMessage({ crates, events }: GitBatch): string {
  const [first, ...more] = events.map(({ action, crate, version, actor }) => {
    const what = version === null ? crate : `${crate} ${version}`
    return `${action} ${what} by ${actor}`
  })
  if (first === undefined)
    return crates.length === 0 ? 'config.json' : `${crates.length} crates as the catalog has them`
  return more.length === 0 ? first : [`${events.length} changes\n`, first, ...more].join('\n')
}
