import { knownPath, releaseOfUpstreamFile, UPSTREAM_CRATES } from '../../core/paths/upstream.ts'
import { readKnown } from '../upstream/known-crates.ts'
import { keptNames } from '../upstream/tree.ts'
import type { UpstreamSource } from '../upstream/upstream.ts'
import { derivable, type Finding, type VerifyOptions } from './finding.ts'

/**
 * Reads everything that is kept of upstreams, and compares `.crate` files with the checksums in
 * their names. A repair removes what is wrong: it is fetched again.
 */
export async function* verifyUpstreams(
  sources: readonly UpstreamSource[],
  options: VerifyOptions,
): AsyncIterable<Finding> {
  for (const source of sources) {
    yield* verifyLines(source, options)
    yield* verifyBytes(source, options)
  }
}

async function* verifyLines(
  source: UpstreamSource,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  const { name: upstream, place } = source
  const names = await keptNames(source)
  for (const [at, name] of names.entries()) {
    options.progress?.(`verifying the lines of ${upstream}`, at + 1, names.length)
    try {
      await readKnown(place, name)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      if (options.repair) await place.remove(knownPath(name))
      const where = `upstream ${upstream}, ${knownPath(name)}`
      yield derivable(where, 'cannot be read', options.repair)
    }
  }
}

async function* verifyBytes(
  { name: upstream, place, files }: UpstreamSource,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  let done = 0
  for await (const { path } of place.list(UPSTREAM_CRATES)) {
    const release = releaseOfUpstreamFile(path.slice(UPSTREAM_CRATES.length))
    options.progress?.(`verifying the .crate files of ${upstream}`, ++done, 0)
    if (!release || (await files.store.checksum(path)) === release.cksum) continue
    if (options.repair) await place.remove(path)
    const where = `upstream ${upstream}, ${path}`
    yield derivable(where, 'has other bytes than its name says', options.repair)
  }
}
