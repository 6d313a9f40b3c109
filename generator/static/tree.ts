import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join, posix, resolve, sep } from 'node:path'
import { type Issue, refuse, warning } from '../../core/error/error.ts'
import { CRATES_FOLDER, cksumOfKey, crateFolder, releaseOfPath } from '../../core/paths/crates.ts'
import { isOfHost, isOwnPath } from '../../core/paths/own.ts'
import {
  configPath,
  GIT_INDEX_FOLDER,
  INDEX_FOLDER,
  indexPath,
  type Output,
  output,
  type PublicFile,
} from '../../core/paths/tree.ts'
import { sha256 } from '../../core/sha256.ts'
import { type DlRelease, type OwnDl, ownDl } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import type { Database } from '../database/connection.ts'
import { all, LIST, run, value } from '../database/statement.ts'
import { STATIC_CONFIG } from '../git/static-repository.ts'
import { readBytes, sumOf } from '../places/disk/files.ts'
import { isTemporary, type TextFile } from '../places/disk/steps.ts'
import { FolderPlace } from '../places/folder-place.ts'
import { PublicTree } from '../places/public-tree.ts'
import { stageOf } from '../places/sync.ts'
import { isRegistry } from '../registry/folder.ts'

/**
 * Refuses a folder with files and no tree, such as a Cargo workspace, which a build would destroy.
 * What killed builds and pushes have left half-written does not count.
 */
export async function requireTree(out: string): Promise<void> {
  const place = new FolderPlace(out, { sync: 'never' })
  for await (const path of place.paths()) {
    if (isOfHost(path)) continue
    // In this order: another first push makes the `config.json` before anything else.
    if (!(await place.head(configPath))) refuse('folder_in_use', { out })
    return
  }
}

/** The most files that are recorded or proved at once. */
const SLICE = 1000

/** What a static tree is made from, and the records in which its files are recorded. */
interface Origin {
  readonly database: Database
  readonly urls: RegistryUrls
  readonly releases: readonly DlRelease[]
  /** The `.crate` files by their checksums. */
  readonly files: ReadonlyMap<string, { readonly path: string }>
}

/**
 * The tree of a static build, whose files are in a table of the cache, each with the checksum of
 * its bytes. Not synced to disk: the next build renders what was lost.
 */
export class StaticTree extends PublicTree {
  /** Number of files that were written or removed. */
  changed = 0
  /** Files that are missing or have other bytes than they should. */
  readonly spoilt = new Set<string>()
  /** Files that are no part of the tree. */
  readonly leftover = new Set<string>()
  /** Warnings of `.crate` files that were replaced by others. */
  readonly warnings: Issue[] = []
  /** The checksums of what was written, and null of what was removed, which the table lacks. */
  readonly #notes = new Map<string, string | null>()
  #origin: Origin | null = null
  #dl: OwnDl | null = null
  /** Where the `dl` leads to, and the index files. */
  #packages: ReadonlySet<string> = new Set()
  #index: ReadonlySet<string> = new Set()
  #names: ReadonlySet<string> = new Set()
  #isOwn: (path: string) => boolean = isOwnPath

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
    await requireTree(out)
    // A repository that a daemon wrote has a history, which a build cannot render again.
    const path = tree.path(GIT_INDEX_FOLDER)
    if (hasGitIndex && existsSync(path) && !(await tree.#hasOwnGitIndex()))
      refuse('git_index_foreign', { path })
    return tree
  }

  /** Names what it is made from, before it is looked at or written to. */
  async begin(origin: Origin): Promise<void> {
    const { urls } = origin
    const [, earlier] = /"dl":"([^"\\]+)"/.exec(String(await this.read(configPath))) ?? []
    // The files of a `dl` that the tree had until now are not wanted any more.
    const templates = [ownDl(urls), earlier ? ownDl({ base: urls.base, dl: earlier }) : null]
    const others = templates.filter(dl => dl !== null).filter(dl => dl.folder !== CRATES_FOLDER)
    const hasGitIndex = await this.#hasOwnGitIndex()
    const isKept = (path: string) => !hasGitIndex && path.startsWith(`${GIT_INDEX_FOLDER}/`)
    this.#isOwn = path =>
      (isOwnPath(path) && !isKept(path)) || others.some(dl => dl.find(path) !== null)
    const dl = ownDl(urls)
    this.#dl = dl
    this.#packages = new Set(origin.releases.flatMap(release => dl?.pathOf(release) ?? []))
    this.#names = new Set(origin.releases.map(({ name }) => name))
    this.#index = new Set([configPath, ...origin.releases.map(({ name }) => indexPath(name))])
    this.#origin = origin
  }

  /**
   * Finds `spoilt` and `leftover` files. Sizes and times prove bytes if `areTimesGood`, else their
   * checksums do. Removes what killed builds have left half-written.
   */
  async prove(areTimesGood: boolean): Promise<void> {
    const { database } = this.#known
    type Row = Readonly<Record<'path' | 'sum' | 'stamp', string>>
    const sql = 'SELECT path, sum, stamp FROM tree WHERE path > ? ORDER BY path LIMIT ?'
    const there = new Set(existsSync(this.root) ? this.#below('') : [])
    for (let rows: Row[] = [], last: string | undefined = ''; last !== undefined; ) {
      rows = await all<Row>(database, sql, last, SLICE)
      last = rows.at(-1)?.path
      const same: string[][] = []
      for (const { path, sum, stamp } of rows) {
        const isThere = there.delete(path)
        const now = isThere ? this.#stampOf(path) : ''
        if (this.#isGone(path)) this.leftover.add(path)
        else if (areTimesGood && now === stamp) continue
        else if (!isThere || sumOf('sha256', readFileSync(this.path(path))) !== sum)
          this.spoilt.add(path)
        else same.push([path, sum, now])
      }
      if (same.length > 0) await run(database, KEEP, same)
    }
    for (const path of there) if (this.#isOwn(path)) this.leftover.add(path)
  }

  /** Whether a path belongs to a crate or a version that is in no folder any more. */
  #isGone(path: string): boolean {
    const [folder, name = '', below] = path.split('/', 3)
    if (folder === INDEX_FOLDER) return !this.#index.has(path)
    if (folder === CRATES_FOLDER && below !== undefined && !this.#names.has(name)) return true
    return this.#isPackage(path) && !this.#packages.has(path)
  }

  /** Yields the files that are there. */
  *#below(folder: string): Generator<string> {
    for (const entry of readdirSync(this.path(folder), { withFileTypes: true })) {
      const path = folder + entry.name
      if (entry.isDirectory()) yield* this.#below(`${path}/`)
      else if (isTemporary(path)) rmSync(this.path(path), { force: true })
      else yield path
    }
  }

  override async write(file: Output): Promise<boolean> {
    const isWritten = await super.write(file)
    if (isWritten) this.changed++
    await this.#note(file.path, sha256(file.bytes))
    return isWritten
  }

  override async writeAll(texts: readonly TextFile[]): Promise<void> {
    for (const { path, text } of texts) await this.write(output(path, text))
  }

  /** Copies a `.crate` to where this tree has it. Refuses one that has changed meanwhile. */
  override async showStored({ path }: PublicFile, key: string): Promise<void> {
    const { files } = this.#known
    const [cksum, release] = [cksumOfKey(key) ?? '', releaseOfPath(path)]
    const source = files.get(cksum)?.path ?? ''
    const bytes = await readBytes(source)
    if (!bytes || !release || sha256(bytes) !== cksum)
      return refuse('file_changed', { path: source })
    const target = this.#dl?.pathOf({ ...release, cksum }) ?? path
    const isThere = existsSync(this.path(target))
    if ((await this.write(output(target, bytes))) && isThere)
      this.warnings.push(warning('package_replaced', { path: target }))
  }

  override async remove(path: string, isWhole = false): Promise<void> {
    if (existsSync(this.path(path))) this.changed++
    for await (const below of isWhole ? this.list(path) : [path]) await this.#note(below, null)
    await super.remove(path, isWhole)
  }

  /** Looks only at what builds have written: what lies there besides is removed. */
  override async has(path: string): Promise<boolean> {
    const note = this.#notes.get(path)
    if (note !== undefined) return note !== null
    return (await value(this.#known.database, 'SELECT 1 FROM tree WHERE path = ?', path)) !== null
  }

  override async *list(folder = '', isFlat = false): AsyncIterable<string> {
    for await (const path of super.list(folder, isFlat))
      if (this.#isOwn(path) && !this.#isPackage(path)) yield path
  }

  /** Forgets what is known of its files, which are all rendered again. */
  async forget(): Promise<void> {
    this.spoilt.clear()
    this.#notes.clear()
    await run(this.#known.database, 'DELETE FROM tree')
  }

  /** Whether the `dl` leads to a path at which no registry has a `.crate`. */
  #isPackage(path: string): boolean {
    return releaseOfPath(path) === null && (this.#dl?.find(path) ?? null) !== null
  }

  /**
   * Removes what is there under another spelling than the files of its releases. On a
   * case-insensitive file system, it would otherwise be taken for them.
   */
  async discardRespelled(): Promise<void> {
    const paths = [...[...this.#names].map(crateFolder), ...this.#packages]
    const spellingOf = new Map(paths.map(path => [path.toLowerCase(), path]))
    const isRespelled = (path: string): boolean =>
      path !== '.' &&
      ((spellingOf.get(path.toLowerCase()) ?? path) !== path || isRespelled(posix.dirname(path)))
    for (const path of [...this.leftover].filter(isRespelled)) await this.remove(path)
  }

  /** Removes what is no part of the tree, the index first, and notes all changes in the records. */
  async finish(): Promise<void> {
    const byStage = (a: string, b: string) => stageOf(b) - stageOf(a)
    for (const path of [...this.leftover].sort(byStage)) await this.remove(path)
    await this.#keep()
  }

  /** Notes a file that was written, or removed; in the records when there are many. */
  async #note(path: string, sum: string | null): Promise<void> {
    this.spoilt.delete(path)
    this.leftover.delete(path)
    this.#notes.set(path, sum)
    if (this.#notes.size % SLICE === 0) await this.#keep()
  }

  async #keep(): Promise<void> {
    const notes = [...this.#notes]
    const gone = notes.filter(([, sum]) => sum === null).map(([path]) => path)
    const rows = notes.filter(([, sum]) => sum !== null)
    const kept = rows.map(([path, sum]) => [path, sum, this.#stampOf(path)])
    await this.#known.database.transaction(async tx => {
      await run(tx, `DELETE FROM tree WHERE path IN ${LIST}`, gone)
      await run(tx, KEEP, kept)
    })
    // Those that were recorded meanwhile stay.
    for (const [path, sum] of notes) if (this.#notes.get(path) === sum) this.#notes.delete(path)
  }

  async #hasOwnGitIndex(): Promise<boolean> {
    return (await this.read(`${GIT_INDEX_FOLDER}/config`))?.toString() === STATIC_CONFIG
  }

  #stampOf(path: string): string {
    // Synchronous, because calls through the thread pool are slower for a million files.
    const stats = statSync(`${this.root}/${path}`, { throwIfNoEntry: false })
    return `${stats?.size} ${stats?.mtimeMs}`
  }

  get #known(): Origin {
    if (this.#origin === null) throw new Error('a tree is written to before it has begun')
    return this.#origin
  }
}

const KEEP = `INSERT OR REPLACE INTO tree (path, sum, stamp)
  SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`
