import { listedBetween, rangesOf } from '../store/catalog/pages/id-ranges.ts'
import { SITEMAPS_FOLDER, sitemapPartPath, sitemapPath } from '../../core/paths.ts'
import type { Output } from '../../core/output.ts'
import { MAP_CRATES } from '../../site/elements/links.ts'
import { renderSitemap, renderSitemapIndex } from '../render/site-pages.ts'
import type { PageShop } from './shop.ts'

/** What the site map begins with; nothing of a private registry. */
export async function sitemapOutputs({ database, look }: PageShop): Promise<Output[]> {
  return look.site.private ? [] : renderSitemapIndex(look, await rangesOf(database, MAP_CRATES))
}

/** A part of the site map; nothing when it has no crates, or of a private registry. */
export async function sitemapPartOutputs({ database, look }: PageShop, part: number): Promise<Output[]> {
  if (look.site.private) return []
  const crates = await listedBetween(database, part * MAP_CRATES, (part + 1) * MAP_CRATES)
  return crates.length === 0 ? [] : [renderSitemap(look, part, crates)]
}

/** Renders a part of the site map, or removes it. */
export async function buildSitemap(shop: PageShop, part: number): Promise<void> {
  const outputs = await sitemapPartOutputs(shop, part)
  for (const output of outputs) await shop.tree.write(output)
  if (outputs.length === 0) await shop.tree.remove(sitemapPartPath(part))
}

/** Removes the site map of a registry that has become private. */
export async function hideSitemap({ look, tree }: PageShop): Promise<void> {
  if (!look.site.private) return
  await tree.remove(sitemapPath)
  await tree.removeFolder(SITEMAPS_FOLDER)
}
