import { dirname, join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { Mutex } from '../../../core/mutex.ts'
import { blobId, headRef, readHead, updateServerInfo } from './bare-repository.ts'
import { FastImport } from './fast-import.ts'
import { finish, type GitAt, runGit, startGit } from './git-process.ts'
import { Maintenance } from './maintenance.ts'
import {
  type CommitInfo,
  checkChanges,
  checkPath,
  type IndexChange,
  type IndexRepository,
  signatures,
} from './repository.ts'
import { syncIfThere } from './repository-file.ts'
import { removeStaleLocks } from './stale-files.ts'

/** Above this, one listing of the tree is cheaper than asking for every path. */
const LISTING_PAYS = 1_000

/** The engine that runs the `git` executable: one `fast-import` for each commit. */
export class GitCommandRepository implements IndexRepository {
  readonly engine = 'git'
  readonly #git: GitAt
  readonly #mutex = new Mutex()
  readonly #maintenance: Maintenance
  #closed = false

  constructor(git: GitAt) {
    this.#git = git
    this.#maintenance = new Maintenance(git.path, git.command, this.#mutex)
  }

  async commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null> {
    this.#open()
    checkChanges(changes)
    return await this.#mutex.run(() => this.#commit(changes, info))
  }

  async #commit(changes: readonly IndexChange[], info: CommitInfo): Promise<string | null> {
    const { path } = this.#git
    const [ref, head] = [await headRef(path), await readHead(path)]
    await removeStaleLocks(path)
    const importing = new FastImport(this.#git)
    try {
      return await this.#import(importing, ref, head, changes, info)
    } finally {
      importing.abandon()
    }
  }

  async #import(
    importing: FastImport,
    ref: string,
    head: string | null,
    changes: readonly IndexChange[],
    info: CommitInfo,
  ): Promise<string | null> {
    const { path } = this.#git
    const paths = changes.map(one => one.path)
    const ids = await this.#ids(importing, head, paths)
    const different = changes.filter(
      ({ bytes }, i) => (bytes ? blobId(bytes) : null) !== (ids[i] ?? null),
    )
    if (different.length === 0) {
      await importing.done()
      return null
    }
    const text = { message: info.message, signatures: signatures(info) }
    const id = await importing.commit(ref, head, different, text)
    await importing.done().catch(async error => {
      if ((await readHead(path)) !== head) refuse('git_index_moved', { path })
      throw error
    })
    // Git flushes no folder, and before 2.36 no ref: their names reach the disk here.
    await syncIfThere(join(path, 'objects', 'pack'))
    await syncIfThere(join(path, ref))
    await syncIfThere(dirname(join(path, ref)))
    await updateServerInfo(path)
    return id
  }

  async #ids(
    importing: FastImport,
    head: string | null,
    paths: readonly string[],
  ): Promise<(string | null)[]> {
    if (head === null) return []
    if (paths.length <= LISTING_PAYS) return await importing.ids(head, paths)
    const listed = new Map<string, string>()
    for await (const { path, id } of this.#listing(head)) listed.set(path, id)
    return paths.map(path => listed.get(path) ?? null)
  }

  async head(): Promise<string | null> {
    this.#open()
    return await readHead(this.#git.path)
  }

  async read(path: string): Promise<Uint8Array | null> {
    this.#open()
    checkPath(path)
    const head = await readHead(this.#git.path)
    if (head === null) return null
    const [entry] = (await runGit(this.#git, ['ls-tree', '-z', head, '--', path]))
      .toString()
      .split('\0')
    const id = /^100644 blob ([0-9a-f]{40})\t/.exec(entry ?? '')?.[1]
    return id ? await runGit(this.#git, ['cat-file', 'blob', id]) : null
  }

  async *list(): AsyncIterable<{ path: string; id: string }> {
    this.#open()
    const head = await readHead(this.#git.path)
    if (head !== null) yield* this.#listing(head)
  }

  async *#listing(commit: string): AsyncGenerator<{ path: string; id: string }> {
    const child = startGit(this.#git, ['ls-tree', '-r', '-z', '--full-tree', commit])
    const end = finish(child, 'ls-tree')
    end.catch(() => {})
    try {
      let rest = ''
      for await (const chunk of child.stdout.setEncoding('utf8')) {
        const lines = `${rest}${chunk}`.split('\0')
        rest = lines.pop() ?? ''
        for (const line of lines) yield { id: line.slice(12, 52), path: line.slice(53) }
      }
      await end
    } finally {
      child.kill()
    }
  }

  async maintain(): Promise<void> {
    this.#open()
    await this.#maintenance.run()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#maintenance.stop()
    await this.#mutex.idle()
  }

  #open(): void {
    if (this.#closed) refuse('git_index_closed', { path: this.#git.path })
  }
}
