import type { Output } from '../../core/output.ts'
import {
  SITEMAP_CRATES,
  SITEMAPS_FOLDER,
  sitemapPartPath,
  sitemapPath,
} from '../../core/paths/pages.ts'
import { sitemapPart } from '../../site/pages/search-engines.ts'
import { renderSitemapIndex } from '../render/site-pages.ts'
import { listedBetween, rangesOf } from '../store/catalog/pages/id-ranges.ts'
import type { PageContext } from './context.ts'

/** What the site map begins with; nothing of a private registry. */
export async function sitemapOutputs({ database, site }: PageContext): Promise<Output[]> {
  return site.private ? [] : renderSitemapIndex(site, await rangesOf(database, SITEMAP_CRATES))
}

/** A part of the site map; nothing when it has no crates, or of a private registry. */
export async function sitemapPartOutputs(
  { database, site }: PageContext,
  part: number,
): Promise<Output[]> {
  if (site.private) return []
  const crates = await listedBetween(database, part * SITEMAP_CRATES, (part + 1) * SITEMAP_CRATES)
  return crates.length === 0 ? [] : [sitemapPart(site, part, crates)]
}

/** Renders a part of the site map, or removes it. */
export async function buildSitemap(context: PageContext, part: number): Promise<void> {
  const outputs = await sitemapPartOutputs(context, part)
  for (const output of outputs) await context.tree.write(output)
  if (outputs.length === 0) await context.tree.remove(sitemapPartPath(part))
}

/** Removes the site map of a registry that has become private. */
export async function hideSitemap({ site, tree }: PageContext): Promise<void> {
  if (!site.private) return
  await tree.remove(sitemapPath)
  await tree.removeFolder(SITEMAPS_FOLDER)
}
