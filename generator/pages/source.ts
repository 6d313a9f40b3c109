import { releaseOfPage } from '../catalog/page-facts.ts'
import { crateKey, type Output, sourceFolder } from '../paths.ts'
import { FILE_MAX, renderSource, SOURCE_BYTES_MAX } from '../render.ts'
import { readContents } from '../tarball.ts'
import type { PageShop } from './shop.ts'

/** Writes the pages of a release's files, or removes them where there is to be no source browser. They never change. */
export async function buildSource(shop: PageShop, releaseId: number): Promise<void> {
  const found = await releaseOfPage(shop.database, releaseId)
  if (!found) return
  const { crate, release } = found
  if (!shop.look.source) return shop.tree.removeFolder(sourceFolder(crate.name, release.version))
  for await (const output of sourceOutputs(shop, releaseId)) await shop.tree.write(output)
}

/** The pages of a release's files; none when its bytes are lost, which `verify` tells. */
export async function* sourceOutputs(shop: PageShop, releaseId: number): AsyncIterable<Output> {
  const found = await releaseOfPage(shop.database, releaseId)
  if (!found || !shop.look.source) return
  const { crate, release } = found
  const key = crateKey(crate.name, release.cksum)
  if ((await shop.crates.size(key)) === null) return
  const open = () => shop.crates.open(key)
  const files = await readContents(open, { fileBytes: FILE_MAX, bytes: SOURCE_BYTES_MAX })
  yield* renderSource(shop.look, { name: crate.name, version: release.version }, files)
}
