import { crateKey } from '../../core/paths/crates.ts'
import { sourceFolder } from '../../core/paths/source.ts'
import { renderSource } from '../sandbox/source.ts'
import { readFailure, writeFailure } from '../store/catalog/pages/plain-pages.ts'
import { readRelease } from '../store/catalog/releases.ts'
import { PAGE_FORMAT, type PageContext } from './context.ts'

/** As much as Cargo unpacks, whatever an archive has inside (`sources/registry/mod.rs`). */
const UNPACKED_MAX = 512 * 1024 * 1024
const RATIO_MAX = 20

/**
 * Writes the pages of a release's files, or removes them where there is to be no source browser.
 * They never change. Does nothing when its bytes are lost, which `verify` tells.
 */
export async function buildSource(context: PageContext, releaseId: number): Promise<void> {
  const { database, crates, tree, site } = context
  const found = await readRelease(database, releaseId)
  if (!found) return
  const { crate, release } = found
  if (!site.source) return tree.removeFolder(sourceFolder(crate.name, release.version))
  const key = crateKey(crate.name, release.cksum)
  const size = await crates.size(key)
  if (size === null) return
  const source = {
    path: crates.path(key),
    name: crate.name,
    version: release.version,
    site,
    unpackedBytes: Math.max(UNPACKED_MAX, RATIO_MAX * size),
  }
  const page = { releaseId, what: 'source', format: PAGE_FORMAT } as const
  const known = await readFailure(database, page)
  const pages = renderSource(source, known)
  let step = await pages.next()
  for (; !step.done; step = await pages.next()) await tree.write(step.value)
  if (step.value && step.value !== known) await writeFailure(database, page, step.value)
}
