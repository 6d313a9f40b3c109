import { existsSync, realpathSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, posix, resolve, sep } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { CRATES_FOLDER } from '../../core/paths/crates.ts'
import { isOfHost, isOwnPath } from '../../core/paths/own.ts'
import { configPath, GIT_INDEX_FOLDER, type Output } from '../../core/paths/tree.ts'
import { type OwnDl, ownDl } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import { STATIC_CONFIG } from '../git/static-repository.ts'
import { PublicTree } from '../places/public-tree.ts'
import { isRegistry } from '../registry/folder.ts'

const isInGitIndex = (path: string) => path.startsWith(`${GIT_INDEX_FOLDER}/`)

/** Size and time of files by path. */
export type Stamps = ReadonlyMap<string, string>

/** The tree of a static build. Not synced to disk: the next build renders what was lost. */
export class StaticTree extends PublicTree {
  /** The paths of all files that were written, or had these bytes already. */
  readonly wanted = new Set<string>()
  /** Number of files that were written or removed. */
  changed = 0

  /** Opens the output folder of a build; refuses one that a build would destroy. */
  static async open(from: string, out: string, hasGitIndex: boolean): Promise<StaticTree> {
    if (!existsSync(from)) refuse('file_missing', { path: from })
    const target = existsSync(out) ? realpathSync(out) : resolve(out)
    if (`${realpathSync(from)}${sep}`.startsWith(`${target}${sep}`))
      refuse('folders_overlap', { from, out })
    const dir = dirname(target)
    // Sources may be beside `plimsoll.toml`, too; only a registry has locks.
    if (isRegistry(dir) && existsSync(join(dir, 'locks')))
      refuse('folder_of_registry', { out, dir })
    const tree = new StaticTree(target, 'never')
    const isTree = (await tree.read(configPath)) !== null
    // Removing files from another kind of folder, such as a Cargo workspace, would destroy it.
    if (!isTree && existsSync(target) && !(await readdir(target)).every(isOfHost))
      refuse('folder_in_use', { out })
    // A repository that a daemon wrote has a history, which a build cannot render again.
    const path = tree.path(GIT_INDEX_FOLDER)
    if (hasGitIndex && existsSync(path) && !(await tree.#hasOwnGitIndex()))
      refuse('git_index_foreign', { path })
    return tree
  }

  override async write(output: Output): Promise<boolean> {
    this.wanted.add(output.path)
    const isWritten = await super.write(output)
    if (isWritten) this.changed++
    return isWritten
  }

  /** Looks only at what this build has written: it removes everything else at its end. */
  override async has(path: string): Promise<boolean> {
    return this.wanted.has(path)
  }

  async discard(paths: Iterable<string>): Promise<void> {
    for (const path of paths) {
      await this.remove(path)
      this.changed++
    }
  }

  /** Returns size and time of every file that this program may have written, by path. */
  async stamps(urls: RegistryUrls): Promise<Stamps> {
    const paths: string[] = []
    for await (const path of this.#own([ownDl(urls), await this.#earlierDl(urls)])) paths.push(path)
    // Synchronous, because calls through the thread pool are slower for a million files.
    const stampOf = (path: string) => {
      const stats = statSync(this.path(path), { bigint: true, throwIfNoEntry: false })
      return `${stats?.size} ${stats?.mtimeNs}`
    }
    return new Map(paths.sort().map(path => [path, stampOf(path)]))
  }

  async *#own(templates: readonly (OwnDl | null)[]): AsyncIterable<string> {
    const hasGitIndex = await this.#hasOwnGitIndex()
    const isOwn = (path: string) => isOwnPath(path) && (hasGitIndex || !isInGitIndex(path))
    const isCrate = (path: string) =>
      templates.some(dl => dl && dl.folder !== CRATES_FOLDER && dl.find(path) !== null)
    for await (const path of this.list()) if (isOwn(path) || isCrate(path)) yield path
  }

  async #hasOwnGitIndex(): Promise<boolean> {
    return (await this.read(`${GIT_INDEX_FOLDER}/config`))?.toString() === STATIC_CONFIG
  }

  /** Returns the `dl` that the tree had until now, whose files are not wanted any more. */
  async #earlierDl(urls: RegistryUrls): Promise<OwnDl | null> {
    const [, dl] = /"dl":"([^"\\]+)"/.exec(String(await this.read(configPath))) ?? []
    return dl === undefined || dl === urls.dl ? null : ownDl({ base: urls.base, dl })
  }
}

/**
 * Finds files under another spelling than those of `spellings`, which are files and folders. On a
 * case-insensitive file system, such a file would otherwise be taken for the new one.
 */
export function respelled(paths: Iterable<string>, spellings: readonly string[]): string[] {
  const spellingOf = new Map(spellings.map(path => [path.toLowerCase(), path]))
  const isRespelled = (path: string): boolean =>
    path !== '.' &&
    ((spellingOf.get(path.toLowerCase()) ?? path) !== path || isRespelled(posix.dirname(path)))
  return [...paths].filter(isRespelled)
}
