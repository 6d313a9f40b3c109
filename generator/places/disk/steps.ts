import { randomInt } from 'node:crypto'
import {
  type BigIntStats,
  closeSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The prefix of half-written files; readers never see them. */
const TEMPORARY = '.writing-'

/** Processes and threads begin at random, so that none uses a name that another one has. */
let last = randomInt(2 ** 47)

/** Returns a temporary path next to `path`, with a name short enough for any file system. */
export function temporaryPath(path: string): string {
  return join(dirname(path), `${TEMPORARY}${(++last).toString(16).padStart(16, '0')}`)
}

/** Returns a temporary name that is always the same. */
export function temporaryName(rest: string): string {
  return `${TEMPORARY}${rest}`
}

/** Returns whether a path is the temporary name of a file that is still being written. */
export function isTemporary(path: string): boolean {
  return basename(path).startsWith(TEMPORARY)
}

/** The error codes of `link` when the file system cannot link two files. */
const UNLINKABLE = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS'])

/** A file and the text that it should have. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

/** A file and the one whose bytes it should have, which never change. */
export interface ShownFile {
  readonly path: string
  readonly source: string
}

/**
 * Steps on files in one go, without waiting for the disk. As separate calls, each `open`,
 * `write` and `rename` would cost more for the way to Node's thread pool and back than for itself.
 */
export const steps = {
  /** Replaces a file; a power cut may spoil it until it is synced. Makes missing folders. */
  replace(path: string, bytes: Uint8Array): void {
    inFolder(path, () =>
      throughTemporary(path, temporary => {
        writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o644 })
      }),
    )
  },

  /** Replaces a file unless it has these bytes; returns whether it did. */
  write(path: string, bytes: Uint8Array): boolean {
    const stats = statsOf(path)
    const isLong = stats?.isFile() && Number(stats.size) === bytes.byteLength
    if (isLong && unlessMissing(() => readFileSync(path))?.equals(bytes)) return false
    steps.replace(path, bytes)
    return true
  },

  /**
   * Replaces a file by one with the same bytes, which are then to be put on disk again. Leaves a
   * `.crate` that is a link to one of the crate store, where it is on disk; skips what is missing.
   */
  renew(path: string): void {
    const stats = statsOf(path)
    if (!stats?.isFile() || (path.endsWith('.crate') && stats.nlink > 1n)) return
    steps.replace(path, readFileSync(path))
  },

  /**
   * Shows files as `show` does, then writes texts as `write` does; before them, makes `folders`, or
   * removes half-written files in them. Returns which files are links.
   */
  writeAll(
    texts: readonly TextFile[],
    folders: readonly string[],
    files: readonly ShownFile[],
  ): boolean[] {
    const areLinks = files.map(({ source, path }) => steps.show(source, path))
    for (const folder of folders) if (steps.makeFolders(folder).length === 0) steps.sweep(folder)
    for (const { path, text } of texts) steps.write(path, Buffer.from(text))
    return areLinks
  },

  /**
   * Makes `path` a hard link to `source`, whose bytes never change, or a copy where the file system
   * cannot link. Leaves a file with the same bytes alone; returns whether it is a link.
   */
  show(source: string, path: string): boolean {
    if (steps.linkNew(source, path) || steps.isSameFile(source, path)) return true
    const stats = statsOf(path)
    const isLong = stats?.isFile() && stats.size === statsOf(source)?.size
    if (isLong && readFileSync(path).equals(readFileSync(source))) return false
    let isLink = false
    throughTemporary(path, temporary => {
      isLink = steps.linkNew(source, temporary)
      if (!isLink) copyFileSync(source, temporary)
    })
    return isLink
  },

  /** Makes `path` a hard link to `source`; returns false when `path` exists or cannot be linked. */
  linkNew(source: string, path: string): boolean {
    return inFolder(path, () => {
      try {
        linkSync(source, path)
        return true
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        if (code === 'EEXIST' || UNLINKABLE.has(code)) return false
        throw error
      }
    })
  },

  isSameFile(path: string, other: string): boolean {
    const [file, another] = [statsOf(path), statsOf(other)]
    return file?.isFile() === true && file.ino === another?.ino && file.dev === another.dev
  },

  /** Creates a file that must not exist; returns its open descriptor. */
  create(path: string, bytes: Uint8Array, mode: number): number {
    return inFolder(path, () => {
      const file = openSync(path, 'wx', mode)
      try {
        writeFileSync(file, bytes)
        return file
      } catch (error) {
        closeSync(file)
        rmSync(path, { force: true })
        throw error
      }
    })
  },

  /**
   * Creates a read-only file under a temporary name in `incoming` and moves it to `path`; returns
   * its open descriptor and those of `folders`, which then exist.
   */
  store(incoming: string, path: string, bytes: Uint8Array, folders: readonly string[]): number[] {
    const temporary = temporaryPath(join(incoming, 'new'))
    const file = steps.create(temporary, bytes, 0o444)
    try {
      inFolder(path, () => renameSync(temporary, path))
      return [file, ...steps.open(folders, 'r')]
    } catch (error) {
      closeSync(file)
      rmSync(temporary, { force: true })
      throw error
    }
  },

  /** Shows a file as `show` does; returns open descriptors of it and of `folders`. */
  keep(source: string, path: string, folders: readonly string[]): number[] {
    steps.show(source, path)
    return steps.open([path, ...folders], 'r')
  },

  /** Opens files and folders and returns their descriptors; skips what is missing. */
  open(paths: readonly string[], flags: 'r' | 'r+'): number[] {
    const opened: number[] = []
    try {
      for (const path of paths) {
        const descriptor = unlessMissing(() => openSync(path, flags))
        if (descriptor !== null) opened.push(descriptor)
      }
      return opened
    } catch (error) {
      for (const descriptor of opened) closeSync(descriptor)
      throw error
    }
  },

  /** Returns one of the folders for each file system that they are on; skips what is missing. */
  onePerFileSystem(folders: readonly string[]): string[] {
    const byDevice = new Map<bigint, string>()
    for (const folder of folders) {
      const stats = statsOf(folder)
      if (stats) byDevice.set(stats.dev, folder)
    }
    return [...byDevice.values()]
  },

  /** Makes a folder, and those above it, unless they are there; returns those that it made. */
  makeFolders(path: string, isLast = false): string[] {
    try {
      mkdirSync(path)
      return [path]
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST' && statsOf(path)?.isDirectory()) return []
      if (code !== 'ENOENT' || isLast || dirname(path) === path) throw error
      // Node's own recursion never ends in `/proc`, where a folder exists and takes no other.
      return [...steps.makeFolders(dirname(path)), ...steps.makeFolders(path, true)]
    }
  },

  sweep(folder: string): void {
    for (const name of unlessMissing(() => readdirSync(folder)) ?? [])
      if (isTemporary(name)) rmSync(join(folder, name), { force: true })
  },
}

/** Makes a file under a temporary name and renames it; leaves nothing behind. */
function throughTemporary(path: string, make: (temporary: string) => void): void {
  const temporary = temporaryPath(path)
  try {
    make(temporary)
    renameSync(temporary, path)
  } finally {
    // Also where nothing failed: to rename a file onto another hard link to it keeps the old name.
    if (lstatSync(temporary, { throwIfNoEntry: false })) rmSync(temporary)
  }
}

/** How many times a step is tried if others keep removing its folder. */
const ATTEMPTS = 3

/** Runs `work`; creates the folder of `path` as often as it is missing or removed meanwhile. */
function inFolder<T>(path: string, work: () => T, attempts = ATTEMPTS): T {
  try {
    if (attempts < ATTEMPTS) steps.makeFolders(dirname(path))
    return work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempts === 1) throw error
    return inFolder(path, work, attempts - 1)
  }
}

function statsOf(path: string): BigIntStats | null {
  // Inode numbers of ReFS and some network file systems exceed the 53 bits of a number.
  return unlessMissing(() => statSync(path, { bigint: true, throwIfNoEntry: false })) ?? null
}

function unlessMissing<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Returns whether anything is at a path, be it a link that leads nowhere. */
export function isTaken(path: string): boolean {
  return unlessMissing(() => lstatSync(path)) !== null
}

/** Returns whether an error means that there is no file or folder. A link to itself is an error. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}
