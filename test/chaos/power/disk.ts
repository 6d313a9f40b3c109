import { dirname, resolve } from 'node:path'
import { bytesOf, type Call, descriptorOf, vectorBytes } from './strace.ts'

/** A change of the bytes of a file. */
export interface DataChange {
  readonly begin: number
  readonly end: number
  /** Null: the file gets the length `at`. */
  readonly bytes: Buffer | null
  readonly at: number
}

/** A moment at which a file or folder was put on disk. */
interface Sync {
  readonly begin: number
  readonly end: number
}

/** A file or a folder. */
export interface Inode {
  readonly id: number
  readonly isFolder: boolean
  readonly changes: DataChange[]
  readonly syncs: Sync[]
}

/** A change of names: all of its effects happen, or none. */
export interface NameChange {
  readonly begin: number
  readonly end: number
  readonly effects: readonly {
    readonly folder: Inode
    readonly name: string
    readonly inode: Inode | null
  }[]
  /** The folder whose sync puts it on disk. */
  readonly folder: Inode
  /** For the story of a violation. */
  readonly what: string
}

interface OpenFile {
  readonly inode: Inode
  readonly path: string
  readonly appends: boolean
  offset: number
}

/** A sync that a planted fault leaves out. */
export type Skips = (what: { readonly path: string; readonly isFolder: boolean }) => boolean

/**
 * The effect of a recording on the files below `root`: every change of bytes and names with its
 * moment, and every sync. Only the folder above `root` is on disk at the start.
 */
export class Disk {
  readonly top: Inode
  readonly names: NameChange[] = []
  readonly files: Inode[] = []
  /** Moments at which something happened to a client. */
  readonly answers: { readonly at: number; readonly place: string; readonly text: string }[] = []
  syncs = 0
  readonly #topPath: string
  readonly #skips: Skips
  readonly #tree = new Map<Inode, Map<string, Inode>>()
  readonly #open = new Map<number, Map<number, OpenFile>>()
  readonly #cwd = new Map<number, string>()
  #ids = 0

  constructor(root: string, skips: Skips = () => false) {
    this.#topPath = dirname(root)
    this.#skips = skips
    this.top = this.#inode(true)
  }

  /** Takes the calls of a recording, in their order. */
  take(calls: readonly Call[]): void {
    for (const call of calls) this.#take(call)
  }

  #take(call: Call): void {
    const { name, args, process, result } = call
    const [first = '', two = '', three = '', four = ''] = args
    const at = (folder: string, path: string) => this.#path(process, path, folder)
    switch (name) {
      case 'fork':
        this.#open.set(result, new Map(this.#table(process)))
        this.#cwd.set(result, this.#cwd.get(process) ?? '/')
        break
      case 'chdir':
        this.#cwd.set(process, at('', first))
        break
      case 'open':
        this.#opened(call, at('', first), two)
        break
      case 'openat':
        this.#opened(call, at(first, two), three)
        break
      case 'creat':
        this.#opened(call, at('', first), 'O_WRONLY|O_CREAT|O_TRUNC')
        break
      case 'close':
        this.#table(process).delete(descriptorOf(first).number)
        break
      case 'dup':
      case 'dup2':
      case 'dup3':
        this.#duplicated(call)
        break
      case 'fcntl':
        if (two.startsWith('F_DUPFD')) this.#duplicated(call)
        break
      case 'read': {
        const file = this.#file(call)
        if (file) file.offset += result
        break
      }
      case 'lseek': {
        const file = this.#file(call)
        if (file) file.offset = result
        break
      }
      case 'write':
      case 'writev':
        this.#written(call, name === 'write' ? bytesOf(two) : vectorBytes(two), null)
        break
      case 'pwrite64':
        this.#written(call, bytesOf(two), Number(four))
        break
      case 'pwritev':
      case 'pwritev2':
        this.#written(call, vectorBytes(two), Number(four))
        break
      case 'ftruncate':
        this.#change(this.#file(call)?.inode, call, null, Number(two))
        break
      case 'truncate':
        this.#change(this.#find(at('', first)), call, null, Number(two))
        break
      case 'fsync':
      case 'fdatasync':
        this.#synced(call)
        break
      case 'mkdir':
      case 'mkdirat': {
        const path = name === 'mkdir' ? at('', first) : at(first, two)
        this.#name(call, [[path, this.#isHere(path) ? this.#inode(true) : null]])
        break
      }
      case 'unlink':
      case 'rmdir':
        this.#name(call, [[at('', first), null]])
        break
      case 'unlinkat':
        this.#name(call, [[at(first, two), null]])
        break
      case 'rename':
        this.#renamed(call, at('', first), at('', two))
        break
      case 'renameat':
      case 'renameat2':
        this.#renamed(call, at(first, two), at(three, four))
        break
      case 'link':
        this.#linked(call, at('', first), at('', two))
        break
      case 'linkat':
        this.#linked(call, at(first, two), at(three, four))
        break
      default:
        this.#strange(call)
        break
    }
  }

  #inode(isFolder: boolean): Inode {
    const inode = { id: this.#ids++, isFolder, changes: [], syncs: [] }
    if (isFolder) this.#tree.set(inode, new Map())
    else this.files.push(inode)
    return inode
  }

  #table(process: number): Map<number, OpenFile> {
    const table = this.#open.get(process) ?? new Map<number, OpenFile>()
    this.#open.set(process, table)
    return table
  }

  #file({ process, args }: Call): OpenFile | undefined {
    return this.#table(process).get(descriptorOf(args[0] ?? '').number)
  }

  #path(process: number, argument: string, folder: string): string {
    const base = folder === '' ? this.#cwd.get(process) : descriptorOf(folder).place
    return resolve(base ?? '/', bytesOf(argument).toString())
  }

  #isHere(path: string): boolean {
    return path.startsWith(`${this.#topPath}/`)
  }

  #find(path: string): Inode | undefined {
    if (path === this.#topPath) return this.top
    if (!this.#isHere(path)) return undefined
    let inode: Inode | undefined = this.top
    for (const name of path.slice(this.#topPath.length + 1).split('/'))
      inode = inode && this.#tree.get(inode)?.get(name)
    return inode
  }

  #opened(call: Call, path: string, flags: string): void {
    const table = this.#table(call.process)
    table.delete(call.result)
    if (!this.#isHere(path) && path !== this.#topPath) return
    let inode = this.#find(path)
    if (!inode) {
      if (!flags.includes('O_CREAT')) return
      inode = this.#inode(false)
      this.#name(call, [[path, inode]])
    } else if (flags.includes('O_TRUNC')) this.#change(inode, call, null, 0)
    table.set(call.result, { inode, path, appends: flags.includes('O_APPEND'), offset: 0 })
  }

  #duplicated(call: Call): void {
    const file = this.#file(call)
    if (file) this.#table(call.process).set(call.result, file)
    else this.#table(call.process).delete(call.result)
  }

  #written(call: Call, bytes: Buffer, at: number | null): void {
    const file = this.#file(call)
    if (!file) {
      const { place } = descriptorOf(call.args[0] ?? '')
      const text = bytes.toString('latin1', 0, 200)
      if (place.startsWith('TCP') || place.endsWith('/acknowledged'))
        this.answers.push({ at: call.begin, place, text })
      return
    }
    const written = bytes.subarray(0, call.result)
    const offset = at ?? (file.appends ? sizeOf(file.inode) : file.offset)
    this.#change(file.inode, call, written, offset)
    if (at === null) file.offset = offset + written.length
  }

  #change(inode: Inode | undefined, call: Call, bytes: Buffer | null, at: number): void {
    inode?.changes.push({ begin: call.begin, end: call.end, bytes, at })
  }

  #synced(call: Call): void {
    const file = this.#file(call)
    if (!file || this.#skips({ path: file.path, isFolder: file.inode.isFolder })) return
    this.syncs++
    file.inode.syncs.push({ begin: call.begin, end: call.end })
  }

  #renamed(call: Call, from: string, to: string): void {
    const inode = this.#find(from)
    if (inode && inode === this.#find(to)) return
    this.#name(call, [
      [to, inode ?? null],
      [from, null],
    ])
  }

  #linked(call: Call, from: string, to: string): void {
    this.#name(call, [[to, this.#find(from) ?? null]])
  }

  /** Gives names to inodes, or takes them away; the change is about the first. */
  #name(call: Call, pairs: readonly (readonly [path: string, inode: Inode | null])[]): void {
    const effects = pairs.flatMap(([path, inode]) => {
      const folder = this.#find(dirname(path))
      return folder ? [{ folder, name: path.slice(dirname(path).length + 1), inode }] : []
    })
    const [first] = effects
    if (!first) return
    for (const { folder, name, inode } of effects) {
      if (inode) this.#tree.get(folder)?.set(name, inode)
      else this.#tree.get(folder)?.delete(name)
    }
    const what = `${call.name} ${pairs.map(([path]) => path.slice(this.#topPath.length + 1)).join(' ← ')}`
    this.names.push({ begin: call.begin, end: call.end, effects, folder: first.folder, what })
  }

  /** Calls unknown to this model must not touch the files. */
  #strange(call: Call): void {
    const touches =
      ['sync', 'syncfs', 'io_uring_setup'].includes(call.name) ||
      call.args.some(argument => this.#isHere(descriptorOf(argument).place))
    if (touches) throw new Error(`the recording has a call that is not modeled: ${call.name}`)
  }
}

/** The length of a file after all of its changes. */
function sizeOf({ changes }: Inode): number {
  let size = 0
  for (const { bytes, at } of changes) size = bytes ? Math.max(size, at + bytes.length) : at
  return size
}
