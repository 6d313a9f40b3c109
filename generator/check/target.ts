import { existsSync } from 'node:fs'
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
  names(): Promise<string[]> | null
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
  const sparse = /^sparse\+(.*?)\/*$/.exec(named)?.[1]
  if (sparse !== undefined) {
    if (!webUrl(sparse)) refuse('check_target', { target: named })
    return webTarget(`${sparse}/`, client)
  }
  const isThere = existsSync(named)
  if (isThere && !existsSync(join(named, 'HEAD')) && !existsSync(join(named, '.git')))
    return folderTarget(named, client)
  if (!isThere && !/^(?:https?|ssh|git|file):\/\//.test(named))
    refuse('check_target', { target: named })
  return gitTarget(named, client)
}

/** Returns the path of an index file (Cargo's `make_dep_path`). */
export function indexPath(name: string): string {
  const lower = name.toLowerCase()
  return `${prefix(lower as Name)}/${lower}`
}

function webTarget(url: string, client: Client): Target {
  return {
    kind: 'http',
    name: `sparse+${url}`,
    ask: (path, ask) => client.ask(`${url}${path}`, ask),
    download: (address, ask) => client.ask(address, ask),
    names: () => null,
    refresh: async () => undefined,
    close: async () => undefined,
  }
}

/** A tree with its index at `index/` or at the top. */
function folderTarget(folder: string, client: Client): Target {
  const top = resolve(folder)
  const index = existsSync(join(top, 'index', 'config.json')) ? join(top, 'index') : top
  if (!existsSync(join(index, 'config.json'))) refuse('check_target', { target: folder })
  const read = async (path: string): Promise<Answer | null> => {
    const isFile = existsSync(path) && !path.includes('\0')
    return isFile ? new Answer({ url: path, status: 200, raw: await readFile(path) }) : null
  }
  return {
    kind: 'folder',
    name: top,
    ask: async path =>
      (await read(join(index, path))) ?? new Answer({ url: join(index, path), status: 404 }),
    async download(address, ask) {
      const parts = address
        .replace(/^[a-z]+:\/\/[^/]*/, '')
        .split('/')
        .filter(part => part !== '')
      if (parts.some(part => /^\.\.?$/.test(part))) return new Answer({ url: address, status: 404 })
      // The base may have a path of its own; the folder has what follows it.
      for (const base of new Set([top, dirname(index)]))
        for (const [at] of parts.entries()) {
          const found = await read(join(base, ...parts.slice(at)))
          if (found) return found
        }
      const isOwn = address.startsWith('file:') || existsSync(join(top, 'crates'))
      return isOwn ? new Answer({ url: address, status: 404 }) : client.ask(address, ask)
    },
    names: () => filesBelow(index, ''),
    refresh: async () => undefined,
    close: async () => undefined,
  }
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readFolder(join(root, folder))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory() && path.split('/').length < 3)
      found.push(...(await filesBelow(root, path)))
    else if (entry.isFile() && FILE.test(path)) found.push(entry.name)
  }
  return found
}

/** A git index at HEAD, as Cargo reads it; one far away is cloned, and again to be fresh. */
async function gitTarget(named: string, client: Client): Promise<Target> {
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
    kind: 'git',
    name: named,
    async ask(path) {
      const url = `${named}:${path}`
      if (!files.has(path)) return new Answer({ url, status: 404 })
      const raw = await runGit(at, ['cat-file', 'blob', `HEAD:${path}`])
      return new Answer({ url, status: 200, raw })
    },
    download: (address, ask) => client.ask(address, ask),
    names: async () => [...files].filter(path => FILE.test(path)).map(path => basename(path)),
    refresh,
    close: async () => {
      for (const clone of clones) await rm(clone, { recursive: true, force: true })
    },
  }
}
