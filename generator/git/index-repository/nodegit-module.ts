/** The part of nodegit 0.28 that is used here; the package brings no declarations of its own. */
export interface NodeGit {
  readonly Libgit2: {
    opts(option: number, value: number): number
    readonly OPT: { readonly ENABLE_FSYNC_GITDIR: number; readonly SET_OWNER_VALIDATION: number }
  }
  readonly Repository: { openBare(path: string): Promise<NodeGitRepository> }
  readonly Blob: {
    createFromBuffer(repository: NodeGitRepository, bytes: Buffer, length: number): Promise<Oid>
  }
  readonly Treebuilder: {
    create(repository: NodeGitRepository, source?: Tree): Promise<Treebuilder>
  }
  readonly Signature: {
    create(name: string, email: string, time: number, offset: number): Signature
  }
  readonly Reference: {
    create(
      repository: NodeGitRepository,
      name: string,
      id: Oid,
      force: 0 | 1,
      log: string,
    ): Promise<unknown>
    createMatching(
      repository: NodeGitRepository,
      name: string,
      id: Oid,
      force: 0 | 1,
      current: Oid,
      log: string,
    ): Promise<unknown>
  }
  readonly Oid: { fromString(id: string): Oid }
}

export interface NodeGitRepository {
  getCommit(id: Oid): Promise<Commit>
  getTree(id: Oid): Promise<Tree>
  getBlob(id: Oid): Promise<{ content(): Buffer }>
  createCommit(
    ref: string | null,
    author: Signature,
    committer: Signature,
    message: string,
    tree: Oid,
    parents: readonly Oid[],
  ): Promise<Oid>
  cleanup(): void
}

export interface Oid {
  tostrS(): string
}

export interface Commit {
  getTree(): Promise<Tree>
}

export interface Tree {
  entries(): TreeEntry[]
  _entryByName(name: string): TreeEntry | null
}

export interface TreeEntry {
  name(): string
  id(): Oid
  isTree(): boolean
}

export interface Treebuilder {
  insert(name: string, id: Oid, mode: number): Promise<unknown>
  remove(name: string): number
  entrycount(): number
  write(): Promise<Oid>
}

export type Signature = object

/**
 * Loads nodegit; the specifier is a variable, so that this compiles without the optional package.
 */
export async function loadNodegit(): Promise<NodeGit> {
  const specifier = 'nodegit'
  const loaded: { default: NodeGit } = await import(specifier)
  return loaded.default
}
