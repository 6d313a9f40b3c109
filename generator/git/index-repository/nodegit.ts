import { createRequire } from 'node:module'
import { blobId } from './bare-repository.ts'
import {
  type CommitInfo,
  type Engine,
  type Folder,
  folderOf,
  type IndexChange,
  type IndexFile,
  REGISTRY,
  secondsOf,
  type Tip,
} from './engine.ts'

const FILE = 0o100644
const FOLDER = 0o40000

/** The part of nodegit 0.28 that is used; the package has no type declarations. */
export interface NodeGit {
  readonly Libgit2: {
    opts(option: number, value: number): number
    readonly OPT: { readonly ENABLE_FSYNC_GITDIR: number; readonly SET_OWNER_VALIDATION: number }
  }
  readonly Repository: { openBare(path: string): Promise<Repository> }
  readonly Blob: {
    createFromBuffer(repository: Repository, bytes: Buffer, length: number): Promise<Oid>
  }
  readonly Treebuilder: { create(repository: Repository, source?: Tree): Promise<Treebuilder> }
  readonly Signature: {
    create(name: string, email: string, time: number, offset: number): object
  }
  readonly Reference: {
    create(
      ...reference: [repository: Repository, name: string, id: Oid, force: 0 | 1, log: string]
    ): Promise<unknown>
    createMatching(
      ...reference: [Repository, name: string, id: Oid, force: 0 | 1, current: Oid, log: string]
    ): Promise<unknown>
  }
  readonly Oid: { fromString(id: string): Oid }
}

interface Repository {
  getCommit(id: Oid): Promise<{ getTree(): Promise<Tree> }>
  getTree(id: Oid): Promise<Tree>
  createCommit(
    ref: null,
    author: object,
    committer: object,
    message: string,
    tree: Oid,
    parents: readonly Oid[],
  ): Promise<Oid>
  cleanup(): void
}

interface Oid {
  tostrS(): string
}

interface Tree {
  entries(): TreeEntry[]
  _entryByName(name: string): TreeEntry | null
}

interface TreeEntry {
  name(): string
  id(): Oid
  isTree(): boolean
}

interface Treebuilder {
  insert(name: string, id: Oid, mode: number): Promise<unknown>
  remove(name: string): number
  entrycount(): number
  write(): Promise<Oid>
}

/**
 * Loads nodegit, without the settings of a user: libgit2 looks for them once, where these variables
 * lead, and fails with a file that this process may not read.
 */
export async function loadNodegit(): Promise<NodeGit> {
  const { HOME, XDG_CONFIG_HOME } = process.env
  for (const name of ['HOME', 'XDG_CONFIG_HOME']) delete process.env[name]
  try {
    // In one go, so that nobody meanwhile misses the variables.
    return createRequire(import.meta.url)('nodegit')
  } finally {
    Object.assign(process.env, {
      ...(HOME && { HOME }),
      ...(XDG_CONFIG_HOME && { XDG_CONFIG_HOME }),
    })
  }
}

/** The engine inside this process: libgit2 through nodegit. */
export class NodegitEngine implements Engine {
  readonly #git: NodeGit
  readonly #repository: Repository

  private constructor(git: NodeGit, repository: Repository) {
    this.#git = git
    this.#repository = repository
  }

  static async open(git: NodeGit, path: string): Promise<NodegitEngine> {
    const { opts, OPT } = git.Libgit2
    // The folder may belong to another user, as in a container with a mounted volume.
    opts(OPT.SET_OWNER_VALIDATION, 0)
    // Objects and refs are synced, and their folders.
    opts(OPT.ENABLE_FSYNC_GITDIR, 1)
    return new NodegitEngine(git, await git.Repository.openBare(path))
  }

  async commit(
    { ref, head }: Tip,
    changes: readonly IndexChange[],
    info: CommitInfo,
  ): Promise<string | null> {
    const files = changes.map(({ path, bytes }) => [path, bytes] as const)
    const root = await this.#write(folderOf(files), head === null ? null : await this.#tree(head))
    if (root === undefined) return null
    const { Oid, Reference, Signature, Treebuilder } = this.#git
    const parent = head === null ? null : Oid.fromString(head)
    const tree = root ?? (await (await Treebuilder.create(this.#repository)).write())
    const person = Signature.create(REGISTRY.name, REGISTRY.email, secondsOf(info), 0)
    const parents = parent ? [parent] : []
    const { message } = info
    const id = await this.#repository.createCommit(null, person, person, message, tree, parents)
    // Moves the branch if it is still at the commit's parent.
    await (parent
      ? Reference.createMatching(this.#repository, ref, id, 1, parent, '')
      : Reference.create(this.#repository, ref, id, 0, ''))
    return id.tostrS()
  }

  /** Writes a changed tree; returns its id, null when it is now empty, undefined when unchanged. */
  async #write(
    folder: Folder<Uint8Array | null>,
    tree: Tree | null,
  ): Promise<Oid | null | undefined> {
    const inserts: [name: string, id: Oid, mode: number][] = []
    const removals: string[] = []
    for (const [name, inner] of folder.folders) {
      const entry = tree?._entryByName(name)
      const below = entry?.isTree() ? await this.#repository.getTree(entry.id()) : null
      const id = await this.#write(inner, below)
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
    const builder = await this.#git.Treebuilder.create(this.#repository, ...(tree ? [tree] : []))
    for (const name of removals) builder.remove(name)
    for (const [name, id, mode] of inserts) await builder.insert(name, id, mode)
    return builder.entrycount() === 0 ? null : builder.write()
  }

  #blob(bytes: Uint8Array): Promise<Oid> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return this.#git.Blob.createFromBuffer(this.#repository, buffer, buffer.length)
  }

  async #tree(commit: string): Promise<Tree> {
    return await (await this.#repository.getCommit(this.#git.Oid.fromString(commit))).getTree()
  }

  async *list(commit: string): AsyncGenerator<IndexFile> {
    yield* this.#listing(await this.#tree(commit), '')
  }

  async *#listing(tree: Tree, above: string): AsyncGenerator<IndexFile> {
    for (const entry of tree.entries()) {
      const path = `${above}${entry.name()}`
      if (entry.isTree())
        yield* this.#listing(await this.#repository.getTree(entry.id()), `${path}/`)
      else yield { path, id: entry.id().tostrS() }
    }
  }

  async rest(): Promise<void> {
    this.#repository.cleanup()
  }
}
