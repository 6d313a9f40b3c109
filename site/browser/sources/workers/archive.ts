import type { Hunk } from '../../../compare/line-diff.ts'
import { PackageDiff, sumOf } from '../../../compare/package-diff.ts'
import { imageType, textOf } from '../../../source/content.ts'
import { findText } from '../../../source/find.ts'
import { type Check, load, type PackagePlace } from './load.ts'
import { serve } from './serve.ts'
import { unpack } from './unpack.ts'

/** A loaded package; it has no files while it differs from its index line. */
export interface OpenedPackage {
  readonly check: Check
  readonly files: readonly (readonly [path: string, size: number])[]
  /** Why not all files are there, as a sentence. */
  readonly problem: string | null
}

export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly type: string; readonly bytes: Uint8Array }
  | { readonly kind: 'other' }

/** A package in memory: its bytes until they are unpacked, then its files. */
interface StoredPackage {
  readonly check: Check
  readonly bytes: Uint8Array | null
  readonly files: ReadonlyMap<string, Uint8Array>
}

const packages = new Map<string, StoredPackage>()
let compared: PackageDiff | null = null

/** The worker was ended and started again. */
const FORGOTTEN = 'the packages have to be loaded again'

const tasks = {
  /** Loads and checks a package. `anyway` unpacks it even if it differs from its index line. */
  async open(
    { place, anyway }: { readonly place: PackagePlace; readonly anyway: boolean },
    report: (progress: unknown) => void,
  ): Promise<OpenedPackage> {
    const { name, version, unpacked } = place
    const held = packages.get(version)
    const { bytes, check } = held?.bytes
      ? { bytes: held.bytes, check: held.check }
      : await load(place, report)
    if (check.state === 'differs' && !anyway) {
      packages.set(version, { check, bytes, files: new Map() })
      return { check, files: [], problem: null }
    }
    const { files, problem } = await unpack(bytes, `${name}-${version}`, unpacked)
    packages.set(version, { check, bytes: null, files })
    return { check, files: [...files].map(([path, bytes]) => [path, bytes.length]), problem }
  },

  async content({ version, path }: FilePlace): Promise<Content> {
    const bytes = bytesOf({ version, path })
    const type = imageType(path, bytes)
    if (type !== null) return { kind: 'image', type, bytes }
    const text = textOf(bytes)
    return text === null ? { kind: 'other' } : { kind: 'text', text }
  },

  async bytes(place: FilePlace): Promise<Uint8Array> {
    return bytesOf(place)
  },

  async find({ version, query }: { readonly version: string; readonly query: string }) {
    return findText(filesOf(version), query)
  },

  async compare({ from, to }: ComparePlace): Promise<Comparison> {
    compared = new PackageDiff(filesOf(from), filesOf(to))
    return { length: compared.files.length, sum: sumOf(compared.files) }
  },

  /** Returns some of the changed files of the last comparison. */
  async changes({ first, end }: { readonly first: number; readonly end: number }) {
    return comparison().files.slice(first, end)
  },

  /** Returns a changed file of the last comparison, and its place; null if there is none. */
  async change({ path }: Pick<FilePlace, 'path'>) {
    const { files } = comparison()
    const at = files.findIndex(file => file.path === path)
    const file = files[at]
    return file ? { at, file } : null
  },

  /** Returns the changed lines of a file of the last comparison. */
  async hunks({ at }: { readonly at: number }): Promise<readonly Hunk[]> {
    return comparison().hunks(at)
  },
}

function comparison(): PackageDiff {
  if (compared === null) throw new Error(FORGOTTEN)
  return compared
}

/** What a comparison found: the number of changed files, and a sentence about them. */
export interface Comparison {
  readonly length: number
  readonly sum: string
}

interface ComparePlace {
  readonly from: string
  readonly to: string
}

interface FilePlace {
  readonly version: string
  readonly path: string
}

function filesOf(version: string): ReadonlyMap<string, Uint8Array> {
  const files = packages.get(version)?.files
  if (!files) throw new Error(FORGOTTEN)
  return files
}

function bytesOf({ version, path }: FilePlace): Uint8Array {
  const bytes = filesOf(version).get(path)
  if (bytes === undefined) throw new Error(`there is no file ${path}`)
  return bytes
}

export type ArchiveTasks = typeof tasks

serve(tasks)
