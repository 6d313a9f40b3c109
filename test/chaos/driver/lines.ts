import { createHash } from 'node:crypto'
import { parseName } from '../../../core/name.ts'
import { indexPath } from '../../../core/paths/tree.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { ensure, Violation } from '../run.ts'

/** The `.crate` of a version: the same parts give the same bytes. */
export function crateBytes(name: string, version: string): Uint8Array {
  return buildCrate({ name, version, files: { 'src/lib.rs': `// ${name} ${version}\n` } })
}

/** SHA-256, lowercase hex. */
export function checksum(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The path of a crate's index file. */
export function indexUrl(url: string, name: string): string {
  return `${url}/${indexPath(parseName(name))}`
}

/** The checked fields of a line in an index file. */
export interface Line {
  readonly name: string
  readonly vers: string
  readonly cksum: string
  readonly yanked: boolean
}

/** Reads an answered index file; every line has to be whole. */
export function parseIndex(name: string, text: string): Line[] {
  ensure(text === '' || text.endsWith('\n'), `the index file of ${name} is cut: ${text}`)
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => parseLine(name, line))
}

function parseLine(name: string, line: string): Line {
  try {
    return JSON.parse(line) as Line
  } catch {
    throw new Violation(`the index file of ${name} has a broken line: ${line}`)
  }
}
