import { isUtf8 } from 'node:buffer'
import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import { parsePublished, readEntry } from '../entry/parse.ts'
import { collect } from '../error/error.ts'
import { isName } from '../name.ts'
import { type CrateFile, UPSTREAM_CRATES, upstreamCratePath } from '../paths/upstream.ts'
import { parseRequirement } from '../requirement.ts'
import { isVersion } from '../version.ts'

/** A line of an upstream's index file: its text, byte for byte, and what policies ask of it. */
export interface UpstreamLine extends CrateFile {
  readonly text: string
  readonly yanked: boolean
  /** `YYYY-MM-DDTHH:MM:SSZ`; null when the line has none. */
  readonly pubtime: string | null
}

/** A version, and the checksum of its `.crate`; null where any will do. */
export interface WantedVersion extends Pick<UpstreamLine, 'name' | 'version'> {
  readonly cksum: string | null
}

/** Characters of the longest line that is read: 20,000 features have fewer. */
const LINE_MAX = 1024 * 1024

/** The most characters of a file's name on most file systems. */
const FILE_NAME_MAX = 255

/**
 * Reads a line of a stranger; null for what Cargo would drop, refuse or stop at, and where the
 * line, or the name of its `.crate`, is too long.
 */
export function parseLine(text: string): UpstreamLine | null {
  const entry = text.length > LINE_MAX ? null : collect([], () => parsePublished(text))
  if (!entry || !isName(entry.name) || !isVersion(entry.vers)) return null
  const { name, vers: version, cksum, yanked, pubtime } = entry
  const file = upstreamCratePath({ name, version, cksum }).slice(UPSTREAM_CRATES.length)
  if (file.length > FILE_NAME_MAX) return null
  return { text, name, version, cksum, yanked, pubtime }
}

/** Reads a line that `parseLine` has accepted before; its checks would take ten times as long. */
export function readLine(text: string): UpstreamLine {
  const { name, vers: version, cksum, yanked, pubtime } = JSON.parse(text)
  return { text, name, version, cksum, yanked: yanked === true, pubtime: pubtime ?? null }
}

/** Returns the crates of the same registry that builds of a version need, perhaps as options. */
export function needsOf({ text }: UpstreamLine) {
  return readEntry(text).deps.flatMap(({ kind, registry, req, optional, ...dep }) => {
    const name = dep.package ?? dep.name
    if (kind === 'dev' || registry || !isName(name)) return []
    return [{ name, requirement: parseRequirement(req), optional }]
  })
}

/** Returns the line with another `yanked`; every other byte stays. */
export function withYanked(line: UpstreamLine, yanked: boolean): UpstreamLine {
  if (line.yanked === yanked) return line
  const { text } = line
  const usual = text.replace(`"yanked":${line.yanked}`, `"yanked":${yanked}`)
  // It may be another key; only the parser, which is slow, tells them apart.
  if (JSON.parse(usual).yanked === yanked) return { ...line, yanked, text: usual }
  const tree = parseTree(text)
  const node = tree && findNodeAtLocation(tree, ['yanked'])
  const start = node?.offset ?? text.indexOf('{') + 1
  const value = node ? String(yanked) : `"yanked":${yanked},`
  const rest = text.slice(start + (node?.length ?? 0))
  return { ...line, yanked, text: text.slice(0, start) + value + rest }
}

/** Returns whether two lines say the same, except whether the version is yanked. */
export function isSameButYanked(a: UpstreamLine, b: UpstreamLine): boolean {
  return withYanked(a, b.yanked).text === b.text
}

/** Reads bytes that were read as Latin-1, each a character, as UTF-8; null if they are not. */
export function utf8Of(text: string): string | null {
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : null
}
