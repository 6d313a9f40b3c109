import type { Entry } from '../../../core/entry/entry.ts'
import { parseEntry } from '../../../core/entry/parse.ts'
import { collect, type Issue, issue } from '../../../core/error/error.ts'
import { isName, type Name } from '../../../core/name.ts'
import {
  isVersion,
  type Version,
  type VersionIdentity,
  versionIdentity,
} from '../../../core/version.ts'
import { type CrateSource, releaseIn } from './crate-sources.ts'
import {
  type Refused,
  refusedCrate,
  refusedPart,
  type SourceCrate,
  type SourceRelease,
} from './source.ts'

/** Largest index file that is read; the largest of crates.io has some 3 MB. */
export const INDEX_FILE_MAX = 64 * 1024 * 1024
/** Longest line; features make the longest of crates.io some 200 kB. */
const LINE_MAX = 4 * 1024 * 1024

/** An index file of the source, not yet read. */
export interface IndexFile {
  /** For people. */
  readonly where: string
  /** The name that its path stands for, in lowercase or as published. */
  readonly stem: string
  readonly bytes: Uint8Array
}

/**
 * The releases of an index file, with every field; lines that Cargo cannot use are refused. A
 * version with two lines has two candidates: registries that only append may have replaced its
 * bytes, too, so the bytes decide which line is true.
 */
export function readIndexFile({ where, stem, bytes }: IndexFile, crates: CrateSource): SourceCrate {
  const refused: Refused[] = []
  const versions = new Map<VersionIdentity, SourceRelease[]>()
  let spelling: string | null = null
  let number = 0
  for (const raw of split(bytes)) {
    number++
    const issues: Issue[] = []
    const entry = readLine(raw, number, issues)
    if (entry && isBelowItsName(entry, stem, spelling, number, issues)) {
      spelling ??= entry.name
      const version = entry.vers as Version
      const wanted = { name: entry.name as Name, version, cksum: entry.cksum }
      const release = releaseIn(crates, `${where}, line ${number}`, wanted, entry)
      const identity = versionIdentity(version)
      versions.set(identity, [...(versions.get(identity) ?? []), release])
    }
    const label = entry ? { name: entry.name, version: entry.vers } : null
    if (issues.length > 0) refused.push(refusedPart(where, issues, label))
  }
  return { name: spelling as Name | null, versions: [...versions.values()], refused }
}

/** An index file that is too long to be read. */
export function tooLong(where: string): SourceCrate {
  const reason = issue('import_too_long', { what: where, max: INDEX_FILE_MAX })
  return refusedCrate(refusedPart(where, [reason]))
}

function readLine(raw: Uint8Array, line: number, issues: Issue[]): Entry | undefined {
  if (raw.length > LINE_MAX) {
    issues.push(issue('import_too_long', { what: `line ${line}`, max: LINE_MAX }))
    return undefined
  }
  const text = decode(raw)
  if (text === null) issues.push(issue('import_not_text', { line }))
  const trimmed = text?.endsWith('\r') ? text.slice(0, -1) : text
  if (!trimmed || trimmed.trim() === '') return undefined
  const found: Issue[] = []
  const entry = collect(found, () => parseEntry(trimmed))
  for (const one of found) issues.push(issue('index_line', { line, reason: one.message }))
  return entry
}

function isBelowItsName(
  { name, vers }: Entry,
  stem: string,
  spelling: string | null,
  line: number,
  issues: Issue[],
): boolean {
  if (!isName(name) || !isVersion(vers))
    throw new TypeError('an entry was read that has no name or version')
  if (name.toLowerCase() !== stem.toLowerCase())
    issues.push(issue('import_misplaced', { line, name }))
  else if (spelling !== null && name !== spelling)
    issues.push(issue('index_name', { line, name, first: spelling }))
  return issues.length === 0
}

function* split(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(0x0a, start)
    const end = found === -1 ? bytes.length : found
    yield bytes.subarray(start, end)
    start = end + 1
  }
}

/** Strict UTF-8; a byte order mark stays, because Cargo drops the line that begins with one. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return null
  }
}
