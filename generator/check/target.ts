import { existsSync, statSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { type Name, prefix } from '../../core/name.ts'
import { cloneBare } from '../git/clone.ts'
import { runGit } from '../git/index-repository/git-process.ts'
import { readFolder } from '../places/disk/files.ts'
import { webUrl } from '../web/web-url.ts'
import { Answer } from './answer.ts'
import type { Ask, Client } from './client.ts'

/** A registry that is checked: where its index is read. */
export interface Target {
  readonly kind: 'http' | 'folder' | 'git'
  /** As Cargo has it in its configuration. */
  readonly name: string
  /** Returns what is at a path of the index. */
  ask(path: string, ask?: Ask): Promise<Answer>
  /** Returns what is at an address of `dl`, also where that is below the folder's own base. */
  download(url: string, ask?: Ask): Promise<Answer>
  /** The names of all index files; null where nobody lists them. */
  names(): Promise<string[] | null>
  /** Makes what was published since visible, where that does not come by itself. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** Where somebody may have put the file of a crate, right or wrong. */
const FILE = /^(?!\.)(?:[^/]+\/){1,2}[A-Za-z0-9_-]+$/

/**
 * Opens what a user names: `sparse+https://…/`, the URL or path of a git index, or the folder of a
 * static tree. Refuses anything else.
 */
export async function openTarget(named: string, client: Client): Promise<Target> {
  const plain: Omit<Target, 'kind' | 'ask'> = {
    name: named,
    download: (address, ask) => client.ask(address, ask),
    names: async () => null,
    refresh: async () => undefined,
    close: async () => undefined,
  }
  const sparse = /^sparse\+(.*?)\/*$/.exec(named)?.[1]
  if (sparse !== undefined && webUrl(sparse)) {
    const ask: Target['ask'] = (path, ask) => client.ask(`${sparse}/${path}`, ask)
    return { ...plain, kind: 'http', name: `sparse+${sparse}/`, ask }
  }
  const isRepository = existsSync(join(named, 'HEAD')) || existsSync(join(named, '.git'))
  if (isRepository || /^(?:https?|ssh|git|file):\/\//.test(named)) return gitTarget(named, plain)
  const folder = resolve(named)
  const index = [join(folder, 'index'), folder].find(each => existsSync(join(each, 'config.json')))
  if (index === undefined) refuse('check_target', { target: named })
  return { ...plain, kind: 'folder', name: folder, ...inFolder(folder, index, plain.download) }
}

/** Returns the path of an index file (Cargo's `make_dep_path`). */
export function indexPath(name: string): string {
  const lower = name.toLowerCase()
  return `${prefix(lower as Name)}/${lower}`
}

/** Reads a tree with its index at `index`. */
function inFolder(
  top: string,
  index: string,
  elsewhere: Target['download'],
): Pick<Target, 'ask' | 'download' | 'names'> {
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true
  const read = async (path: string) =>
    isFile(path) ? new Answer(path, 200, await readFile(path)) : new Answer(path, 404)
  return {
    ask: path => read(join(index, path)),
    async download(address, ask) {
      const { pathname, protocol } = new URL(address)
      const parts = pathname.split('/').filter(part => part !== '')
      // The base may have a path of its own; the folder has what follows it.
      const paths = parts.flatMap((_, at) =>
        [top, dirname(index)].map(base => join(base, ...parts.slice(at))),
      )
      const path = paths.find(isFile)
      if (path !== undefined) return read(path)
      const isOwn = protocol === 'file:' || existsSync(join(top, 'crates'))
      return isOwn ? new Answer(address, 404) : elsewhere(address, ask)
    },
    names: () => filesBelow(index, ''),
  }
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readFolder(join(root, folder))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && path.split('/').length < 3)
      found.push(...(await filesBelow(root, path)))
    else if (entry.isFile() && FILE.test(path)) found.push(entry.name)
  }
  return found
}

/** A git index at HEAD, as Cargo reads it; one far away is cloned, and again to be fresh. */
async function gitTarget(named: string, plain: Omit<Target, 'kind' | 'ask'>): Promise<Target> {
  const clones: string[] = []
  const bare = existsSync(join(named, 'HEAD')) ? resolve(named) : resolve(named, '.git')
  let at = { command: 'git', path: bare }
  let files: ReadonlySet<string> = new Set()
  const refresh = async (): Promise<void> => {
    const path = existsSync(named) ? bare : await cloneBare(named)
    if (path !== bare) clones.push(dirname(path))
    const next = { command: 'git', path }
    const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', 'HEAD']
    files = new Set((await runGit(next, args)).toString('utf8').split('\0').filter(Boolean))
    at = next
  }
  await refresh()
  return {
    ...plain,
    kind: 'git',
    async ask(path) {
      const url = `${named}:${path}`
      if (!files.has(path)) return new Answer(url, 404)
      return new Answer(url, 200, await runGit(at, ['cat-file', 'blob', `HEAD:${path}`]))
    },
    names: async () => [...files].filter(path => FILE.test(path)).map(path => basename(path)),
    refresh,
    close: async () => {
      for (const clone of clones) await rm(clone, { recursive: true, force: true })
    },
  }
}
