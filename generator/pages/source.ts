import type { Output } from '../../core/output.ts'
import { crateKey } from '../../core/paths/crates.ts'
import { sourceFolder } from '../../core/paths/source.ts'
import { readContents } from '../../core/tarball/recover.ts'
import { FILE_MAX } from '../../site/source/file.ts'
import { renderSource, SOURCE_BYTES_MAX } from '../render/site-pages.ts'
import { readRelease } from '../store/catalog/releases.ts'
import type { PageContext } from './context.ts'

/** As much as Cargo unpacks, whatever an archive has inside (`sources/registry/mod.rs`). */
const UNPACKED_MAX = 512 * 1024 * 1024
const RATIO_MAX = 20

/** Writes the pages of a release's files, or removes them where there is to be no source browser. They never change. */
export async function buildSource(context: PageContext, releaseId: number): Promise<void> {
  const found = await readRelease(context.database, releaseId)
  if (!found) return
  const { crate, release } = found
  if (!context.site.source)
    return context.tree.removeFolder(sourceFolder(crate.name, release.version))
  for await (const output of sourceOutputs(context, releaseId)) await context.tree.write(output)
}

/** The pages of a release's files; none when its bytes are lost, which `verify` tells. */
export async function* sourceOutputs(
  context: PageContext,
  releaseId: number,
): AsyncIterable<Output> {
  const found = await readRelease(context.database, releaseId)
  if (!found || !context.site.source) return
  const { crate, release } = found
  const key = crateKey(crate.name, release.cksum)
  const size = await context.crates.size(key)
  if (size === null) return
  const open = () => context.crates.open(key)
  const files = await readContents(open, {
    fileBytes: FILE_MAX,
    bytes: SOURCE_BYTES_MAX,
    unpackedBytes: Math.max(UNPACKED_MAX, RATIO_MAX * size),
  })
  yield* renderSource(context.site, { name: crate.name, version: release.version }, files)
}
