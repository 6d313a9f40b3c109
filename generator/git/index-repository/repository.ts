import { open, readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { Mutex } from '../../../core/mutex.ts'
import { readFolder, syncFile, syncFolder, unlessMissing } from '../../store/durable-file.ts'
import {
  ensureBare,
  headRef,
  readHead,
  removeStaleFiles,
  removeStaleLocks,
  updateServerInfo,
} from './bare-repository.ts'
import {
  type CommitInfo,
  checkChanges,
  type Engine,
  type IndexChange,
  type IndexFile,
} from './engine.ts'
import { GitEngine } from './git-engine.ts'
import { type GitAt, gitVersion, runGit } from './git-process.ts'
import { loadNodegit, type NodeGit, NodegitEngine } from './nodegit.ts'

/** Above this, one pack from fast-import costs less than as many loose objects, each flushed. */
const BULK = 500

/** What should write the repository. */
export interface EngineChoice {
  /** `auto` takes nodegit when it is installed and loads, else the git executable. */
  readonly engine?: 'auto' | 'nodegit' | 'git'
  readonly gitCommand?: string
}

/** What can write the repository: the library, the executable if recent enough, or both. */
export interface FoundEngine {
  readonly name: 'nodegit' | 'git'
  readonly nodegit: NodeGit | null
  readonly command: string | null
}

/** The engine that is there and wanted; refuses when there is none. */
export async function findEngine(choice: EngineChoice): Promise<FoundEngine> {
  const { engine = 'auto', gitCommand = 'git' } = choice
  const nodegit = engine === 'git' ? null : await tryNodegit(engine)
  const version = await gitVersion(gitCommand)
  const usable = version !== null && isRecent(version)
  if (!nodegit && version === null) refuse('git_engine_missing', { command: gitCommand })
  if (!nodegit && !usable) refuse('git_too_old', { command: gitCommand, version: version ?? '' })
  return { name: nodegit ? 'nodegit' : 'git', nodegit, command: usable ? gitCommand : null }
}

/** Geometric repacking with a multi-pack index begins here (git 2.34 release notes). */
function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 2 || (major === 2 && minor >= 34)
}

async function tryNodegit(engine: 'auto' | 'nodegit'): Promise<NodeGit | null> {
  try {
    return await loadNodegit()
  } catch (error) {
    // Absent, or built for another Node: with `auto` the executable does the same job.
    if (engine === 'nodegit')
      refuse('git_nodegit_missing', { reason: (error as Error).message.split('\n')[0] ?? '' })
    return null
  }
}

/** Opens or makes the bare repository at `path`. Only one process may write to it. */
export async function openIndexRepository(
  options: EngineChoice & { readonly path: string },
): Promise<IndexRepository> {
  const path = resolve(options.path)
  const { nodegit, command } = await findEngine(options)
  await ensureBare(path)
  await removeStaleLocks(path)
  await removeStaleFiles(path)
  await updateServerInfo(path)
  const git = command === null ? null : new GitEngine({ command, path })
  const engine = nodegit ? await NodegitEngine.open(nodegit, path) : git
  if (!engine) throw new Error('an engine was found that is none')
  return new IndexRepository(path, engine, git, new Maintenance(path, command))
}

/** The index as a bare git repository: the files of the sparse index, one commit for each batch. */
export class IndexRepository {
  readonly #path: string
  readonly #engine: Engine
  /** Writes large batches; nodegit cannot write packs. */
  readonly #bulk: Engine
  readonly #maintenance: Maintenance
  readonly #mutex = new Mutex()
  #closed = false

  /** Without a git executable, `packing`, all objects stay loose. */
  constructor(path: string, engine: Engine, packing: Engine | null, maintenance: Maintenance) {
    this.#path = path
    this.#engine = engine
    this.#bulk = packing ?? engine
    this.#maintenance = maintenance
  }

  get engine(): Engine['name'] {
    return this.#engine.name
  }

  /** Appends a commit, durably, and returns its id; null when nothing differs from HEAD. */
  async commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null> {
    this.#open()
    checkChanges(changes)
    return await this.#mutex.run(() => this.#commit(changes, info))
  }

  async #commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null> {
    const path = this.#path
    const tip = { ref: await headRef(path), head: await readHead(path) }
    await removeStaleLocks(path)
    const engine = changes.length > BULK ? this.#bulk : this.#engine
    const id = await engine.commit(tip, changes, info).catch(async error => {
      if ((await readHead(path)) !== tip.head) refuse('git_index_moved', { path })
      throw error
    })
    if (id === null) return null
    // Git flushes no folder, and before 2.36 no ref: their names reach the disk here.
    await syncFolder(join(path, 'objects', 'pack'))
    await unlessMissing(syncFile(join(path, tip.ref)))
    await syncFolder(dirname(join(path, tip.ref)))
    await updateServerInfo(path)
    return id
  }

  /** The id of the newest commit; null before the first. */
  async head(): Promise<string | null> {
    this.#open()
    return await readHead(this.#path)
  }

  /** Every file at HEAD, in the order of git's tree. */
  async *list(): AsyncIterable<IndexFile> {
    const head = await this.head()
    if (head !== null) yield* this.#engine.list(head)
  }

  /** Packs when enough is loose or scattered, else nearly free: call it after every batch. */
  async maintain(): Promise<void> {
    this.#open()
    await this.#maintenance.run(() => this.#mutex.run(() => updateServerInfo(this.#path)))
  }

  /** Waits for what runs; afterwards the repository refuses to be used. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    // Breaks off packing, which the next start takes up again.
    await this.#maintenance.stop()
    await this.#mutex.idle()
    this.#engine.close?.()
  }

  #open(): void {
    if (this.#closed) refuse('git_index_closed', { path: this.#path })
  }
}

/** Every new git process opens every pack's index, so their number is kept small. */
const MANY_PACKS = 50
/** Loose objects in one of git's 256 folders that suggest 1,000 in all (as `git gc` estimates). */
const MANY_LOOSE = 4
/** Below this a clone counts its objects faster than a bitmap could be read. */
const BITMAP_PAYS = 20_000

/**
 * Packing with the git executable. Small packs are combined in geometric steps; once the objects
 * outside the pack with the bitmap are half of it, everything is packed into one. The growth that
 * caused a packing pays for it.
 */
class Maintenance {
  readonly #path: string
  readonly #command: string | null
  readonly #mutex = new Mutex()
  readonly #stopped = new AbortController()
  /** Number of objects when this process last packed everything. */
  #settled = 0

  /** Without a git executable, `command`, nothing is packed. */
  constructor(path: string, command: string | null) {
    this.#path = path
    this.#command = command
  }

  /** Packs what is due, then does `after`. */
  async run(after: () => Promise<void>): Promise<void> {
    await this.#mutex.run(async () => {
      await removeStaleFiles(this.#path)
      const how = await this.#due()
      if (how && this.#command !== null)
        await this.#pack({ command: this.#command, path: this.#path }, how)
      await after()
    })
  }

  /** Aborts a running packing; git leaves the repository intact, and the next start continues. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#mutex.idle()
  }

  async #pack(git: GitAt, how: readonly string[]): Promise<void> {
    const { signal } = this.#stopped
    try {
      await runGit(git, ['repack', '-q', '-d', '-n', ...how], signal)
      // The history's shape in one file: counting and negotiating no longer open every commit.
      if (how.includes('-a'))
        await runGit(git, ['commit-graph', 'write', '--reachable', '--no-progress'], signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** What `git repack` has to do now; null when nothing is due. */
  async #due(): Promise<readonly string[] | null> {
    const packs = await scanPacks(join(this.#path, 'objects', 'pack'))
    const loose = await readFolder(join(this.#path, 'objects', '17'))
    const total = packs.reduce((sum, pack) => sum + pack.objects, 0)
    // Where git writes no bitmap (a pack is kept), growth since the last packing counts instead.
    const settled = Math.max(
      this.#settled,
      ...packs.filter(pack => pack.bitmap).map(pack => pack.objects),
    )
    if (total - settled > settled / 2 && total > BITMAP_PAYS) {
      this.#settled = total
      // Unreachable objects stay: a commit whose ref has not moved yet may need them. Every commit
      // has a new root tree: new deltas in long chains save a third of a clone.
      return ['-a', '-f', '--depth=250', '--keep-unreachable', '--write-bitmap-index']
    }
    return packs.length > MANY_PACKS || loose.length >= MANY_LOOSE ? ['--geometric=2'] : null
  }
}

async function scanPacks(folder: string): Promise<{ objects: number; bitmap: boolean }[]> {
  const names = await readdir(folder)
  const packs: Awaited<ReturnType<typeof scanPacks>> = []
  for (const name of names.filter(one => one.endsWith('.idx'))) {
    const handle = await open(join(folder, name))
    try {
      // Version 2: a header of 8 bytes, then the fan-out table; its last entry counts all objects.
      const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 8 + 255 * 4)
      const bitmap = names.includes(name.replace(/idx$/, 'bitmap'))
      packs.push({ objects: buffer.readUInt32BE(), bitmap })
    } finally {
      await handle.close()
    }
  }
  return packs
}
