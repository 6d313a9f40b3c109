import { existsSync, statSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { refuse } from '../core/error/error.ts'
import { lowerPrefix, type Name } from '../core/name.ts'
import { cloneBare } from '../generator/git/index-repository/clone.ts'
import {
  gitFolder,
  requireOwnFiles,
  runGit,
} from '../generator/git/index-repository/git-process.ts'
import { plain, webUrl } from '../generator/web/web-url.ts'
import { Answer } from './answer.ts'
import { ANSWER_MAX, type Ask, type Client } from './client.ts'

export interface Target {
  readonly kind: 'http' | 'folder' | 'git'
  /** As Cargo has it in its configuration. */
  readonly name: string
  ask(path: string, ask?: Ask): Promise<Answer>
  /** Returns what is at an address of `dl`, also where that is below the folder's own base. */
  download(url: string, ask?: Ask): Promise<Answer>
  /** The paths of the index; null where nobody lists them. */
  paths(): Promise<string[] | null>
  /** Makes later publishes visible, in targets that do not show them at once. */
  refresh(): Promise<void>
  close(): Promise<void>
}
type Reader = Pick<Target, 'ask' | 'paths'> & Partial<Target>

/**
 * Opens what a user names: `sparse+https://…/`, the URL or path of a git index, or the folder of a
 * static tree. Refuses anything else.
 */
export async function openTarget(named: string, client: Client): Promise<Target> {
  const open = (kind: Target['kind'], name: string, reader: Reader): Target => ({
    ...{ kind, name, download: (url: string, ask?: Ask) => client.ask(url, ask) },
    ...{ refresh: async () => undefined, close: async () => undefined, ...reader },
  })
  const sparse = /^sparse\+(.*?)\/*$/.exec(named)?.[1]
  if (sparse !== undefined && webUrl(sparse))
    return open('http', `sparse+${sparse}/`, {
      ask: (path, ask) => client.ask(`${sparse}/${path}`, ask),
      paths: async () => null,
    })
  const isRepository = ['HEAD', '.git'].some(name => existsSync(join(named, name)))
  if (isRepository || webUrl(named) || /^(?:ssh|git|file):\/\//.test(named)) {
    const name = existsSync(named) ? pathToFileURL(named).href : named
    const download = (url: string, ask?: Ask) => {
      const path = /^file:\/\/(\/[^%]+)$/.exec(url)?.[1]
      return path === undefined ? client.ask(url, ask) : read(path)
    }
    // A registry elsewhere must not have files of this machine read.
    const reader = { ...(await openRepository(named)), ...(/^file:/.test(name) && { download }) }
    return open('git', name, reader)
  }
  const folder = resolve(named)
  const index = [join(folder, 'index'), folder].find(each => existsSync(join(each, 'config.json')))
  if (index === undefined) refuse('check_target', { target: plain(named) })
  return open('folder', folder, openFolder(folder, index, client))
}

/** Returns the path of an index file (Cargo's `make_dep_path`). */
export function indexPath(name: string): string {
  return `${lowerPrefix(name as Name)}/${name.toLowerCase()}`
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

async function read(path: string): Promise<Answer> {
  if (!isFile(path)) return new Answer(path, 404)
  if (statSync(path).size > ANSWER_MAX) refuse('import_too_long', { what: path, max: ANSWER_MAX })
  return new Answer(path, 200, await readFile(path))
}

function openFolder(top: string, index: string, client: Client): Reader {
  return {
    ask: path => read(join(index, path)),
    async download(url, ask) {
      if (!URL.canParse(url)) return client.ask(url, ask)
      const { pathname, protocol } = new URL(url)
      const parts = pathname.split('/').filter(part => part !== '')
      // The base may have a path of its own; the folder has what follows it.
      const ends = parts.map((_, at) => join(...parts.slice(at)))
      const paths = [top, dirname(index)].flatMap(base => ends.map(end => join(base, end)))
      const path = paths.find(isFile)
      if (path !== undefined) return read(path)
      const isOwn = protocol === 'file:' || existsSync(join(top, 'crates'))
      return isOwn ? new Answer(url, 404) : client.ask(url, ask)
    },
    async paths() {
      const all = await readdir(index, { recursive: true, withFileTypes: true })
      const files = all.filter(entry => entry.isFile())
      return files.map(({ parentPath, name }) => join(relative(index, parentPath), name))
    },
  }
}

/** A git index at HEAD, as Cargo reads it; one far away is cloned, and again to be fresh. */
async function openRepository(named: string): Promise<Reader> {
  const clones: string[] = []
  const bare = gitFolder(resolve(named))
  let at = { command: 'git', path: bare }
  let files: readonly string[] = []
  const readAll = async (): Promise<void> => {
    if (!existsSync(named)) {
      at = { command: 'git', path: await cloneBare(named) }
      clones.push(dirname(at.path))
    }
    const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', 'HEAD']
    const head = await runGit(at, ['rev-list', '-n', '1', '--ignore-missing', 'HEAD'])
    files = head.length === 0 ? [] : String(await runGit(at, args)).split('\0')
  }
  if (existsSync(named)) await requireOwnFiles(bare)
  let next: Promise<void> | null = null
  let last = readAll()
  await last
  return {
    async ask(path) {
      const url = `${named}:${path}`
      if (!files.includes(path)) return new Answer(url, 404)
      return new Answer(url, 200, await runGit(at, ['cat-file', 'blob', `HEAD:${path}`]))
    },
    paths: async () => [...files],
    refresh() {
      // All who ask while it is read share the next reading.
      next ??= last.then(() => {
        next = null
        last = readAll()
        return last
      })
      return next
    },
    close: async () => {
      for (const clone of clones) await rm(clone, { recursive: true, force: true })
    },
  }
}
