import type { Hunk } from '../../../compare/line-diff.ts'
import { type ChangedFile, PackageDiff } from '../../../compare/package-diff.ts'
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

/** The most lines of a file that is shown: browsers take long to number them. */
const LINES_MAX = 500_000

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
    const isShown = text !== null && text.split('\n', LINES_MAX + 1).length <= LINES_MAX
    return isShown ? { kind: 'text', text } : { kind: 'other' }
  },

  async bytes(place: FilePlace): Promise<Uint8Array> {
    return bytesOf(place)
  },

  async find({ version, query }: { readonly version: string; readonly query: string }) {
    return findText(filesOf(version), query)
  },

  async compare({ from, to }: ComparePlace): Promise<readonly ChangedFile[]> {
    compared = new PackageDiff(filesOf(from), filesOf(to))
    return compared.files
  },

  /** Returns the changed lines of a file of the last comparison. */
  async hunks({ at }: { readonly at: number }): Promise<readonly Hunk[]> {
    if (compared === null) throw new Error(FORGOTTEN)
    return compared.hunks(at)
  },
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
