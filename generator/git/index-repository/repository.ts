// generator/git/index-repository: Reads and writes one git repository, by nodegit or git. git/ and
// imports call it; it knows no records.
import { readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import semver from 'semver'
import { Mutex } from '../../../core/async/mutex.ts'
import { refuse } from '../../../core/error/error.ts'
import { syncFile, syncFolder } from '../../places/disk/durable.ts'
import { readFolder, statOf } from '../../places/disk/files.ts'
import {
  ensureBare,
  readHead,
  readTip,
  removeStaleFiles,
  removeStaleLocks,
  updateServerInfo,
} from './bare-repository.ts'
import type { CommitInfo, Engine, IndexChange, IndexFile } from './engine.ts'
import { GitEngine } from './git-engine.ts'
import { type GitAt, gitVersion, runGit } from './git-process.ts'
import { loadNodegit, type NodeGit, NodegitEngine } from './nodegit.ts'

/** With more files than this, one pack from fast-import is cheaper than synced loose objects. */
const BULK = 500

/** The engine that should write the repository. */
export interface EngineChoice {
  /** `auto` uses nodegit if it is installed and loads, else the git executable. */
  readonly engine?: 'auto' | 'nodegit' | 'git'
  readonly gitCommand?: string
}

/** The available engines: the library, the executable if recent enough, or both. */
export interface FoundEngine {
  readonly name: 'nodegit' | 'git'
  readonly nodegit: NodeGit | null
  readonly command: string | null
}

/** Finds an available engine of the chosen kind; refuses when there is none. */
export async function findEngine(choice: EngineChoice): Promise<FoundEngine> {
  const { engine = 'auto', gitCommand = 'git' } = choice
  const nodegit = engine === 'git' ? null : await tryNodegit(engine)
  const version = await gitVersion(gitCommand)
  // Geometric repacking with a multi-pack index (git 2.34 release notes).
  const usable = version !== null && semver.gte(semver.coerce(version) ?? '0.0.0', '2.34.0')
  if (!nodegit && version === null) refuse('git_engine_missing', { command: gitCommand })
  if (!nodegit && !usable) refuse('git_too_old', { command: gitCommand, version: version ?? '' })
  return { name: nodegit ? 'nodegit' : 'git', nodegit, command: usable ? gitCommand : null }
}

async function tryNodegit(engine: 'auto' | 'nodegit'): Promise<NodeGit | null> {
  try {
    return await loadNodegit()
  } catch (error) {
    // Not installed, or built for another Node: with `auto`, the executable does the same job.
    if (engine === 'nodegit')
      refuse('git_nodegit_missing', { reason: (error as Error).message.split('\n')[0] ?? '' })
    return null
  }
}

/** Opens or creates the bare repository at `path`. Only one process may write to it. */
export async function openIndexRepository(
  options: EngineChoice & { readonly path: string },
): Promise<IndexRepository> {
  const path = resolve(options.path)
  const { nodegit, command } = await findEngine(options)
  await ensureBare(path)
  await removeStaleLocks(path, (await readTip(path)).ref)
  await removeStaleFiles(path)
  await updateServerInfo(path)
  const git = command === null ? null : new GitEngine({ command, path })
  const engine = nodegit ? await NodegitEngine.open(nodegit, path) : git
  if (!engine) throw new Error('neither nodegit nor git was found')
  return new IndexRepository(path, engine, git ?? engine, command)
}

/** The most packs: each new git process opens every pack's index. */
const MANY_PACKS = 50
/** This many loose objects in one of git's 256 folders mean about 1,000 (as `git gc` estimates). */
const MANY_LOOSE = 4
/** A clone counts fewer objects than this faster than it reads a bitmap. */
const BITMAP_PAYS = 20_000

/**
 * The index as a bare git repository: the files of the sparse index, one commit per batch. The git
 * executable combines small packs in geometric steps; once the objects outside the pack with the
 * bitmap are half of it, it packs everything into one, so the cost stays proportional to growth.
 */
export class IndexRepository {
  readonly #path: string
  readonly #engine: Engine
  /** Writes large batches; nodegit cannot write packs. */
  readonly #bulk: Engine
  /** The git executable that packs; all objects stay loose without it. */
  readonly #command: string | null
  readonly #mutex = new Mutex()
  readonly #packing = new Mutex()
  readonly #stopped = new AbortController()
  /** Whether a commit has failed, whose files nobody has removed. */
  #hasFailed = false
  /** The number of objects when this process last packed everything. */
  #settled = 0

  constructor(path: string, engine: Engine, bulk: Engine, command: string | null) {
    this.#path = path
    this.#engine = engine
    this.#bulk = bulk
    this.#command = command
  }

  /** Appends a commit, syncs it, and returns its id; null when nothing differs from HEAD. */
  commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null> {
    return this.#mutex.run(() => this.#commit(changes, info))
  }

  async #commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null> {
    const path = this.#path
    const tip = await readTip(path)
    await removeStaleLocks(path, tip.ref)
    const engine = changes.length > BULK ? this.#bulk : this.#engine
    const id = await engine.commit(tip, changes, info).catch(async error => {
      this.#hasFailed = true
      if ((await readHead(path)) !== tip.head) refuse('git_index_moved', { path })
      throw error
    })
    if (id === null) return null
    if ((await readHead(path)) !== id) refuse('git_index_moved', { path })
    // Git syncs no folder, and before 2.36 no ref.
    await syncFolder(join(path, 'objects', 'pack'))
    await syncFile(join(path, tip.ref))
    await syncFolder(dirname(join(path, tip.ref)))
    await updateServerInfo(path)
    return id
  }

  head(): Promise<string | null> {
    return readHead(this.#path)
  }

  async *list(): AsyncIterable<IndexFile> {
    const head = await this.head()
    if (head !== null) yield* this.#engine.list(head)
  }

  /** Packs if there are many loose objects or packs. Cheap otherwise: call it after every batch. */
  maintain(): Promise<void> {
    return this.#packing.run(async () => {
      if (this.#hasFailed) await this.#mutex.run(() => this.#sweep())
      const how = await this.#due()
      if (!how || this.#command === null) return
      await removeStaleFiles(this.#path)
      await this.#mutex.run(() => this.#rest())
      await this.#pack({ command: this.#command, path: this.#path }, how)
      await this.#mutex.run(() => updateServerInfo(this.#path))
    })
  }

  /** Aborts a running packing: git leaves the repository intact, and the next start continues. */
  async close(): Promise<void> {
    this.#stopped.abort()
    await this.#packing.idle()
    await this.#mutex.run(() => this.#rest())
  }

  async #sweep(): Promise<void> {
    await removeStaleFiles(this.#path, true)
    this.#hasFailed = false
  }

  async #rest(): Promise<void> {
    await this.#engine.rest()
    await this.#bulk.rest()
  }

  async #pack(git: GitAt, how: readonly string[]): Promise<void> {
    const { signal } = this.#stopped
    try {
      await runGit(git, ['repack', '-q', '-d', '-n', ...how], signal)
      // One file for the commit graph: counting and negotiating need not open every commit.
      if (how.includes('-a'))
        await runGit(git, ['commit-graph', 'write', '--reachable', '--no-progress'], signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** Returns the arguments for `git repack`; null when nothing is due. */
  async #due(): Promise<readonly string[] | null> {
    const folder = join(this.#path, 'objects', 'pack')
    const names = await readdir(folder)
    const packs = names.filter(name => name.endsWith('.idx'))
    const loose = await readFolder(join(this.#path, 'objects', '17'))
    let total = 0
    // If git writes no bitmap (a pack is kept), growth since the last packing counts instead.
    let settled = this.#settled
    for (const pack of packs) {
      // Besides tables of 1,072 bytes, an index (version 2) has 28 bytes for each object.
      const objects = Math.floor((((await statOf(join(folder, pack)))?.size ?? 0) - 1072) / 28)
      total += objects
      if (names.includes(pack.replace(/idx$/, 'bitmap'))) settled = Math.max(settled, objects)
    }
    if (total - settled > settled / 2 && total > BITMAP_PAYS) {
      this.#settled = total
      // Unreachable objects stay: a commit whose ref has not moved yet may need them. Every commit
      // has a new root tree: new deltas in long chains save a third of a clone.
      return ['-a', '-f', '--depth=250', '--keep-unreachable', '--write-bitmap-index']
    }
    return packs.length > MANY_PACKS || loose.length >= MANY_LOOSE ? ['--geometric=2'] : null
  }
}
