import { type Issue, inFile, refusalOnly, refuse } from '../error/error.ts'
import { sha256 } from '../sha256.ts'
import { decodeUtf8, gather } from '../tarball/bytes.ts'
import { walkGzip } from '../tarball/gzip.ts'
import { ADVISORIES_MAX, ADVISORY_BYTES, badAdvisory } from './advisory.ts'
import { parseOsv } from './osv.ts'
import { parseRustSec } from './rustsec.ts'

/** The most bytes of an archive when it is unpacked, and of all advisories in it. */
const UNPACKED_MAX = 512 * 1024 * 1024
const ADVISORIES_BYTES = 256 * 1024 * 1024

/** A file that may be an advisory; of one that is too long, the first bytes are enough. */
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
export function advisoryPaths(paths: readonly string[], what: string): string[] {
  const isFile = (path: string) =>
    /(?:^|\/)[^./][^/]*\.(?:md|json)$/i.test(path) &&
    !/(?:^|\/)\.|(?:^|\/)(?:readme\.md|index\.json)$/i.test(path)
  const files = paths.filter(isFile).sort()
  const ofCrates = files.filter(path => /^(?:[^/]+\/)?crates\//.test(path))
  const chosen = ofCrates.length > 0 ? ofCrates : files
  if (chosen.length > ADVISORIES_MAX) refuse('advisories_many', { path: what, max: ADVISORIES_MAX })
  return chosen
}

/** Returns the files of a `.tar.gz` that may be advisories; refuses one that is too large. */
export async function advisoryFiles(
  open: () => AsyncIterable<Uint8Array>,
): Promise<AdvisoryFile[]> {
  const files = new Map<string, Uint8Array>()
  let left = ADVISORIES_BYTES
  await walkGzip(
    open(),
    UNPACKED_MAX,
    [],
    async ({ path, kind, size }, read) => {
      if (kind !== 'file' || !/\.(?:md|json)$/i.test(path) || path.includes('\0')) return 'go on'
      if (size > ADVISORY_BYTES) files.set(path, new Uint8Array(ADVISORY_BYTES + 1))
      else files.set(path, await gather(read()))
      left -= Math.min(size, ADVISORY_BYTES)
      if (left < 0 || files.size > 2 * ADVISORIES_MAX)
        refuse('advisories_many', { path: 'the archive', max: ADVISORIES_MAX })
      return 'go on'
    },
    'cargo',
  )
  const paths = advisoryPaths([...files.keys()], 'the archive')
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
    const kept = first ? { name: first.id, content, sum: sha256(content) } : null
    return { path, kept, issue: null }
  } catch (error) {
    return { path, kept: null, issue: inFile(path, refusalOnly(error).issues[0]) }
  }
}
