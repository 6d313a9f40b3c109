import { knownPath, releaseOfUpstreamFile, UPSTREAM_CRATES } from '../../core/paths/upstream.ts'
import { readKnown } from '../upstream/known-crates.ts'
import type { Upstreams } from '../upstream/open.ts'
import { keptNames } from '../upstream/tree.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { derivable, type Finding, type VerifyOptions } from './finding.ts'

/**
 * Reads everything that is kept of upstreams, and compares `.crate` files with the checksums in
 * their names. A repair removes what is wrong: it is fetched again.
 */
export async function* verifyUpstreams(
  { byName }: Pick<Upstreams, 'byName'>,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  const places = new Set<unknown>()
  for (const upstream of byName.values()) {
    if (places.has(upstream.source)) continue
    places.add(upstream.source)
    yield* verifyLines(upstream, options)
    yield* verifyBytes(upstream, options)
  }
}

async function* verifyLines(upstream: Upstream, options: VerifyOptions): AsyncIterable<Finding> {
  const { place } = upstream.source
  const names = await keptNames(upstream)
  for (const [at, name] of names.entries()) {
    options.progress?.(`verifying the lines of ${upstream.name}`, at + 1, names.length)
    try {
      await readKnown(place, name)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      if (options.repair) await place.remove(knownPath(name))
      const where = `upstream ${upstream.name}, ${knownPath(name)}`
      yield derivable(where, 'cannot be read', options.repair)
    }
  }
}

async function* verifyBytes(upstream: Upstream, options: VerifyOptions): AsyncIterable<Finding> {
  const { place, files } = upstream.source
  let done = 0
  for await (const { path } of place.list(UPSTREAM_CRATES)) {
    const release = releaseOfUpstreamFile(path.slice(UPSTREAM_CRATES.length))
    options.progress?.(`verifying the .crate files of ${upstream.name}`, ++done, 0)
    if (!release || (await files.store.checksum(path)) === release.cksum) continue
    if (options.repair) await place.remove(path)
    const where = `upstream ${upstream.name}, ${path}`
    yield derivable(where, 'has other bytes than its name says', options.repair)
  }
}
