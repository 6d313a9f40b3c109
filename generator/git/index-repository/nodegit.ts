import { dirname, join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { Mutex } from '../../../core/mutex.ts'
import { blobId, headRef, readHead, updateServerInfo } from './bare-repository.ts'
import { GitCommandRepository } from './git-command.ts'
import { Maintenance } from './maintenance.ts'
import type {
  NodeGit,
  NodeGitRepository,
  Oid,
  Signature,
  Tree,
  Treebuilder,
} from './nodegit-module.ts'
import {
  type CommitInfo,
  checkChanges,
  checkPath,
  type IndexChange,
  type IndexRepository,
  type Person,
  signatures,
} from './repository.ts'
import { syncTogether } from './repository-file.ts'
import { removeStaleLocks } from './stale-files.ts'

const FILE = 0o100644
const FOLDER = 0o40000

/** Above this, one pack from fast-import costs less than as many loose objects, each flushed. */
const BULK = 500

/** The batch as a tree: what becomes of each name in a folder. */
interface Folder {
  readonly files: Map<string, Uint8Array | null>
  readonly folders: Map<string, Folder>
}

/** The engine inside the process: libgit2 through nodegit. */
export class NodegitRepository implements IndexRepository {
  readonly engine = 'nodegit'
  readonly #git: NodeGit
  readonly #repository: NodeGitRepository
  readonly #path: string
  readonly #mutex = new Mutex()
  readonly #maintenance: Maintenance
  readonly #bulk: GitCommandRepository | null
  /** Objects written for the commit under way. */
  readonly #fresh = new Set<string>()
  #closed = false

  private constructor(
    git: NodeGit,
    repository: NodeGitRepository,
    path: string,
    packer: string | null,
  ) {
    this.#git = git
    this.#repository = repository
    this.#path = path
    this.#maintenance = new Maintenance(path, packer, this.#mutex)
    this.#bulk = packer === null ? null : new GitCommandRepository({ command: packer, path })
  }

  /**
   * `packer` is the git executable, as nodegit cannot write packs; without one all objects stay
   * loose.
   */
  static async open(git: NodeGit, path: string, packer: string | null): Promise<NodegitRepository> {
    const { opts, OPT } = git.Libgit2
    // The folder may belong to another user, as in a container with a mounted volume.
    opts(OPT.SET_OWNER_VALIDATION, 0)
    return new NodegitRepository(git, await git.Repository.openBare(path), path, packer)
  }

  async commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null> {
    this.#open()
    checkChanges(changes)
    const { length } = changes
    return await this.#mutex.run(async () =>
      length > BULK && this.#bulk
        ? await this.#bulk.commit(changes, info)
        : await this.#commit(changes, info),
    )
  }

  async #commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null> {
    const [ref, head] = [await headRef(this.#path), await readHead(this.#path)]
    const root = await this.#write(folderOf(changes), head === null ? null : await this.#tree(head))
    if (root === undefined) return null
    const parents = head === null ? [] : [this.#git.Oid.fromString(head)]
    const tree = root ?? (await this.#written(await this.#git.Treebuilder.create(this.#repository)))
    const { author, committer, seconds } = signatures(info)
    const sign = (person: Person): Signature =>
      this.#git.Signature.create(person.name, person.email, seconds, 0)
    const id = await this.#repository.createCommit(
      null,
      sign(author),
      sign(committer),
      info.message,
      tree,
      parents,
    )
    await this.#flush(id)
    await removeStaleLocks(this.#path)
    await this.#move(ref, id, parents)
    await updateServerInfo(this.#path)
    return id.tostrS()
  }

  /** Flushes objects first, all at once, then their folders: libgit2 would flush one by one. */
  async #flush(commit: Oid): Promise<void> {
    const names = [...this.#fresh, commit.tostrS()].map(id =>
      join(this.#path, 'objects', id.slice(0, 2), id.slice(2)),
    )
    this.#fresh.clear()
    await syncTogether(names)
    await syncTogether([...new Set(names.map(dirname))])
    await syncTogether([join(this.#path, 'objects')])
  }

  /** Moves the branch, if it is still where the commit began. */
  async #move(ref: string, id: Oid, parents: readonly Oid[]): Promise<void> {
    const { Libgit2, Reference } = this.#git
    const [parent] = parents
    Libgit2.opts(Libgit2.OPT.ENABLE_FSYNC_GITDIR, 1)
    try {
      await (parent
        ? Reference.createMatching(this.#repository, ref, id, 1, parent, '')
        : Reference.create(this.#repository, ref, id, 0, ''))
    } catch (error) {
      if ((await readHead(this.#path)) !== (parent?.tostrS() ?? null))
        refuse('git_index_moved', { path: this.#path })
      throw error
    } finally {
      Libgit2.opts(Libgit2.OPT.ENABLE_FSYNC_GITDIR, 0)
    }
  }

  /**
   * Writes a changed tree: its id, null when nothing is left in it, undefined when it is unchanged.
   */
  async #write(folder: Folder, tree: Tree | null): Promise<Oid | null | undefined> {
    const inserts: [name: string, id: Oid, mode: number][] = []
    const removals: string[] = []
    for (const [name, inner] of folder.folders) {
      const entry = tree?._entryByName(name)
      const id = await this.#write(
        inner,
        entry?.isTree() ? await this.#repository.getTree(entry.id()) : null,
      )
      if (id) inserts.push([name, id, FOLDER])
      else if (id === null && entry) removals.push(name)
    }
    for (const [name, bytes] of folder.files) {
      const entry = tree?._entryByName(name)
      if (bytes === null) {
        if (entry) removals.push(name)
      } else if (entry?.id().tostrS() !== blobId(bytes)) {
        inserts.push([name, await this.#blob(bytes), FILE])
      }
    }
    if (inserts.length === 0 && removals.length === 0) return undefined
    const { Treebuilder } = this.#git
    const builder = await (tree
      ? Treebuilder.create(this.#repository, tree)
      : Treebuilder.create(this.#repository))
    for (const name of removals) builder.remove(name)
    for (const [name, id, mode] of inserts) await builder.insert(name, id, mode)
    return builder.entrycount() === 0 ? null : await this.#written(builder)
  }

  async #written(builder: Treebuilder): Promise<Oid> {
    const id = await builder.write()
    this.#fresh.add(id.tostrS())
    return id
  }

  async #blob(bytes: Uint8Array): Promise<Oid> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const id = await this.#git.Blob.createFromBuffer(this.#repository, buffer, buffer.length)
    this.#fresh.add(id.tostrS())
    return id
  }

  async #tree(commit: string): Promise<Tree> {
    return await (await this.#repository.getCommit(this.#git.Oid.fromString(commit))).getTree()
  }

  async head(): Promise<string | null> {
    this.#open()
    return await readHead(this.#path)
  }

  async read(path: string): Promise<Uint8Array | null> {
    this.#open()
    checkPath(path)
    const head = await readHead(this.#path)
    if (head === null) return null
    let tree = await this.#tree(head)
    const [name = '', ...folders] = path.split('/').reverse()
    for (const folder of folders.reverse()) {
      const entry = tree._entryByName(folder)
      if (!entry?.isTree()) return null
      tree = await this.#repository.getTree(entry.id())
    }
    const entry = tree._entryByName(name)
    return entry && !entry.isTree() ? (await this.#repository.getBlob(entry.id())).content() : null
  }

  async *list(): AsyncIterable<{ path: string; id: string }> {
    this.#open()
    const head = await readHead(this.#path)
    if (head !== null) yield* this.#listing(await this.#tree(head), '')
  }

  async *#listing(tree: Tree, above: string): AsyncGenerator<{ path: string; id: string }> {
    for (const entry of tree.entries()) {
      const path = `${above}${entry.name()}`
      if (entry.isTree())
        yield* this.#listing(await this.#repository.getTree(entry.id()), `${path}/`)
      else yield { path, id: entry.id().tostrS() }
    }
  }

  async maintain(): Promise<void> {
    this.#open()
    await this.#maintenance.run()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#maintenance.stop()
    await this.#mutex.idle()
    this.#repository.cleanup()
  }

  #open(): void {
    if (this.#closed) refuse('git_index_closed', { path: this.#path })
  }
}

function folderOf(changes: readonly IndexChange[]): Folder {
  const root: Folder = { files: new Map(), folders: new Map() }
  for (const { path, bytes } of changes) {
    const [name = '', ...above] = path.split('/').reverse()
    let folder = root
    for (const part of above.reverse()) {
      const inner = folder.folders.get(part) ?? { files: new Map(), folders: new Map() }
      folder.folders.set(part, inner)
      folder = inner
    }
    folder.files.set(name, bytes)
  }
  return root
}
