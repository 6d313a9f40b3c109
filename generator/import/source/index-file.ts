import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import type { Entry } from '../../../core/entry/entry.ts'
import { parsePublished } from '../../../core/entry/parse.ts'
import { collect, type Issue, issue, refuse, refuseErrors } from '../../../core/error/error.ts'
import { isName, type Name, prefix } from '../../../core/name.ts'
import { type Version, type VersionIdentity, versionIdentity } from '../../../core/version.ts'
import { fileStats, readBytes, readFolder } from '../../places/disk/files.ts'
import { type CrateSource, releaseIn } from './crate-sources.ts'
import {
  type RefusedPart,
  refusalOfPart,
  refusedCrate,
  refusedPart,
  type SourceCrate,
  type SourceRelease,
} from './source.ts'

/** The largest index file that is read; the largest on crates.io has about 3 MB. */
export const INDEX_FILE_MAX = 64 * 1024 * 1024
/** The longest line; features make the longest on crates.io about 200 kB. */
const LINE_MAX = 4 * 1024 * 1024

/**
 * Returns the releases of an index file, with every field; refuses lines that Cargo cannot use. A
 * version with two lines has two candidates: append-only registries may have replaced its bytes,
 * too, so the bytes decide which line is right. `stem` is the name that the path means, in
 * lowercase or as published; `where` is for messages.
 */
export function readIndexFile(
  { where, stem, bytes }: { where: string; stem: string; bytes: Uint8Array },
  crates: CrateSource,
): SourceCrate {
  const refused: RefusedPart[] = []
  const versions = new Map<VersionIdentity, SourceRelease[]>()
  let first: string | null = null
  let line = 0
  for (const raw of split(bytes)) {
    line++
    const issues: Issue[] = []
    const entry = collect(issues, () => readLine(raw, line))
    const { name, vers, cksum } = entry ?? { name: '', vers: '', cksum: '' }
    if (entry && name.toLowerCase() !== stem.toLowerCase())
      issues.push(issue('import_misplaced', { line, name }))
    else if (entry && first !== null && name !== first)
      issues.push(issue('index_name', { line, name, first }))
    else if (entry) {
      first = name
      const wanted = { name: name as Name, version: vers as Version, cksum }
      const release = releaseIn(crates, `${where}, line ${line}`, wanted, entry)
      const identity = versionIdentity(wanted.version)
      versions.set(identity, [...(versions.get(identity) ?? []), release])
    }
    const label = entry ? { name, version: vers } : null
    if (issues.length > 0) refused.push(refusedPart(where, issues, label))
  }
  return { name: first as Name | null, versions: [...versions.values()], refused }
}

/** Returns the refusal of an index file that is too long to be read. */
export function tooLong(where: string): SourceCrate {
  return refusedCrate(where, [issue('import_too_long', { what: where, max: INDEX_FILE_MAX })])
}

function readLine(raw: Uint8Array, line: number): Entry | null {
  if (raw.length > LINE_MAX) refuse('import_too_long', { what: `line ${line}`, max: LINE_MAX })
  if (!isUtf8(raw)) refuse('import_not_text', { line })
  // A byte order mark is kept: Cargo ignores a line that begins with one.
  const text = Buffer.from(raw).toString('utf8').replace(/\r$/, '')
  if (text.trim() === '') return null
  const problems: Issue[] = []
  const entry = collect(problems, () => parsePublished(text))
  refuseErrors(problems.map(({ message: reason }) => issue('index_line', { line, reason })))
  return entry ?? null
}

function* split(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, start)
    const end = newline === -1 ? bytes.length : newline
    yield bytes.subarray(start, end)
    start = end + 1
  }
}

export interface TierFile {
  readonly path: string
  readonly stem: string
  readonly size: number
}

/**
 * Returns the name whose index file has this path, else null (`1/a`, `2/ab`, `3/a/abc`,
 * `ca/rg/cargo`; specification A.2). Also accepts uppercase letters.
 */
export function stemOf(path: string): string | null {
  const end = path.lastIndexOf('/')
  const stem = path.slice(end + 1)
  if (end === -1 || !isName(stem)) return null
  return path.slice(0, end).toLowerCase() === prefix(stem).toLowerCase() ? stem : null
}

/** Lists every index file below a folder, sorted; skips links, which may point anywhere. */
export async function listTiers(root: string): Promise<TierFile[]> {
  const files: TierFile[] = []
  const visit = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readFolder(join(root, ...folder.split('/')))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      const isTier = entry.isDirectory() && depth < 2 && /^[A-Za-z0-9_-]{1,2}$/.test(entry.name)
      if (isTier) await visit(path, depth + 1)
      const stem = entry.isDirectory() || entry.isSymbolicLink() ? null : stemOf(path)
      const stats = stem && (await fileStats(join(root, ...path.split('/'))))
      // What is no file is refused when it is read.
      if (stem) files.push({ path, stem, size: stats ? stats.size : 0 })
    }
  }
  await visit('', 0)
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Reads the crate of an index file below `root`; `decode` converts its bytes to index lines. */
export async function readTier(
  root: string,
  { path, stem, size }: TierFile,
  crates: CrateSource,
  decode = (bytes: Buffer, _where: string): Buffer => bytes,
): Promise<SourceCrate> {
  const where = join(root, ...path.split('/'))
  if (size > INDEX_FILE_MAX) return tooLong(where)
  const read = async () =>
    (await readBytes(where, INDEX_FILE_MAX)) ?? refuse('file_missing', { path: where })
  try {
    return readIndexFile({ where, stem, bytes: decode(await read(), where) }, crates)
  } catch (error) {
    return refusedCrate(where, refusalOfPart(error).issues)
  }
}
