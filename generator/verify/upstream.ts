import { rm } from 'node:fs/promises'
import { relative } from 'node:path'
import { Refusal } from '../../core/error/error.ts'
import { knownPath, releaseOfUpstreamPath, UPSTREAM_CRATES } from '../../core/paths/upstream.ts'
import { faultOf } from '../sandbox/sandbox.ts'
import { CRATE_MAX } from '../upstream/crate-files.ts'
import { readKnown } from '../upstream/known-crates.ts'
import { halfWrittenIn, keptNames } from '../upstream/tree.ts'
import type { UpstreamSource } from '../upstream/upstream.ts'
import { derivable, type Finding, type VerifyOptions } from './finding.ts'

/** Reads all that is kept of upstreams, and compares checksums; a repair removes what is wrong. */
export async function* verifyUpstreams(
  sources: readonly UpstreamSource[],
  { repair, progress }: VerifyOptions,
): AsyncIterable<Finding> {
  for (const source of sources) {
    const { name: upstream, place, files } = source
    const finding = async (path: string, problem: string): Promise<Finding> => {
      if (repair) await place.remove(path)
      return derivable(`upstream ${upstream}, ${path}`, problem, repair)
    }
    const names = await keptNames(source)
    for (const [at, name] of names.entries()) {
      progress?.(`verifying the lines of ${upstream}`, at + 1, names.length)
      try {
        await readKnown(place, name)
      } catch (error) {
        const isLong = error instanceof Refusal && error.has('import_too_long')
        if (!isLong && !(error instanceof SyntaxError || error instanceof TypeError)) throw error
        yield finding(knownPath(name), 'cannot be read')
      }
    }
    for await (const path of halfWrittenIn(place)) {
      if (repair) await rm(path, { force: true })
      const where = `upstream ${upstream}, ${relative(place.name, path)}`
      yield derivable(where, 'is half-written', repair)
    }
    let done = 0
    for await (const { path, size } of place.list(UPSTREAM_CRATES)) {
      const release = releaseOfUpstreamPath(path)
      progress?.(`verifying the .crate files of ${upstream}`, ++done, 0)
      if (!release) continue
      if (size > CRATE_MAX || (await files.store.checksum(path)) !== release.cksum) {
        yield finding(path, 'has other bytes than its name says')
        continue
      }
      const file = await files.store.localFile(path)
      const fault = file && (await faultOf({ ...file, identity: release }))
      if (fault) yield finding(path, `no Cargo can use it: ${fault}`)
    }
  }
}
