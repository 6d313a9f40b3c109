import { type Issue, inFile, refusalOnly, refuse } from '../error/error.ts'
import { sha256 } from '../sha256.ts'
import { decodeUtf8, gather } from '../tarball/bytes.ts'
import { walkGzip } from '../tarball/gzip.ts'
import { badAdvisory } from './advisory.ts'
import { parseOsv } from './osv.ts'
import { parseRustSec } from './rustsec.ts'

/** The most bytes of an advisory, of an archive when it is unpacked, and of what is taken of it. */
export const ADVISORY_BYTES = 64 * 1024
const UNPACKED_MAX = 512 * 1024 * 1024
const TAKEN_MAX = 256 * 1024 * 1024

const FILES_MAX = 50_000

/** A file that may be an advisory, with at most a byte more than one may have. */
export interface AdvisoryFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** What a file says, as JSON with a checksum; or why it is no advisory. Both null: nothing now. */
export interface ReadAdvisory {
  readonly path: string
  readonly kept: { readonly name: string; readonly content: string; readonly sum: string } | null
  readonly issue: Issue | null
}

/**
 * Chooses the files that are to be advisories: `.md` and `.json`, but no README, and of RustSec's
 * repository those of crates. Refuses more than 50,000.
 */
export function advisoryPaths(paths: Iterable<string>, source: string): string[] {
  const isFile = (path: string) =>
    /\.(?:md|json)$/i.test(path) && !/(?:^|\/)(?:\.|readme\.md$|index\.json$)/i.test(path)
  const files = [...paths].filter(isFile).sort()
  const ofCrates = files.filter(path => /^(?:[^/]+\/)?crates\//.test(path))
  const chosen = ofCrates.length > 0 ? ofCrates : files
  if (chosen.length > FILES_MAX) refuse('advisories_many', { source, max: FILES_MAX })
  return chosen
}

/** Returns the files of a `.tar.gz` that may be advisories; refuses one that is too large. */
export async function advisoryFiles(
  open: () => AsyncIterable<Uint8Array>,
): Promise<AdvisoryFile[]> {
  const files = new Map<string, Uint8Array>()
  let left = TAKEN_MAX
  const visit: Parameters<typeof walkGzip>[3] = async ({ path, kind, size }, read) => {
    if (kind !== 'file' || !/\.(?:md|json)$/i.test(path) || path.includes('\0')) return 'go on'
    const isLong = size > ADVISORY_BYTES
    files.set(path, isLong ? new Uint8Array(ADVISORY_BYTES + 1) : await gather(read()))
    left -= Math.min(size, ADVISORY_BYTES)
    if (left < 0 || files.size > 2 * FILES_MAX)
      refuse('advisories_many', { source: 'the archive', max: FILES_MAX })
    return 'go on'
  }
  await walkGzip(open(), UNPACKED_MAX, [], visit, 'cargo')
  const paths = advisoryPaths(files.keys(), 'the archive')
  return paths.map(path => ({ path, bytes: files.get(path) ?? new Uint8Array() }))
}

/** Reads a file of RustSec or OSV. */
export function readAdvisoryFile({ path, bytes }: AdvisoryFile): ReadAdvisory {
  try {
    if (bytes.length > ADVISORY_BYTES) badAdvisory(`it is longer than ${ADVISORY_BYTES} bytes`)
    const text = decodeUtf8(bytes) ?? badAdvisory('it is not UTF-8')
    const advisories = (/\.md$/i.test(path) ? parseRustSec : parseOsv)(text)
    const [first] = advisories
    const content = JSON.stringify(advisories)
    return {
      path,
      kept: first ? { name: first.id, content, sum: sha256(content) } : null,
      issue: null,
    }
  } catch (error) {
    return { path, kept: null, issue: inFile(path, refusalOnly(error).issues[0]) }
  }
}
