import { CRATES_FOLDER } from '../../core/paths/crates.ts'
import {
  SEARCH_FOLDER,
  searchBlockPath,
  searchBucketPath,
  searchCommonPath,
} from '../../core/paths/search.ts'
import {
  FEEDS_FOLDER,
  isListPath,
  SITEMAP_CRATES,
  SITEMAPS_FOLDER,
  sitemapPartPath,
  sitemapPath,
} from '../../core/paths/tree.ts'
import { SEARCH_BLOCK_CRATES } from '../../core/search/buckets.ts'
import { rangesOf } from '../store/catalog/pages/id-ranges.ts'
import { crateCount } from '../store/catalog/pages/prefixes.ts'
import { commonRanges, readLayout } from '../store/catalog/search/search-files.ts'
import type { PageContext } from './context.ts'
import { listOutputs } from './list.ts'
import { sitePages } from './site.ts'

/** Removes pages that the registry no longer has, except crate pages, which a build removes. */
export async function prunePages(context: PageContext): Promise<void> {
  const { tree, database } = context
  const wanted = new Set((await sitePages(context)).map(one => one.path))
  for await (const output of listOutputs(context, '', await crateCount(database)))
    wanted.add(output.path)
  for (const block of await rangesOf(database, SEARCH_BLOCK_CRATES))
    wanted.add(searchBlockPath(block))
  for (const { hash, range } of await commonRanges(database))
    wanted.add(searchCommonPath(hash, range))
  for (const part of context.site.private ? [] : await rangesOf(database, SITEMAP_CRATES))
    wanted.add(sitemapPartPath(part))
  for (const bits of Object.values(await readLayout(database)).filter(bits => bits !== null)) {
    for (let bucket = 0; bucket < 2 ** bits; bucket++) wanted.add(searchBucketPath(bits, bucket))
  }
  for (const folder of [FEEDS_FOLDER, SEARCH_FOLDER, SITEMAPS_FOLDER]) {
    for await (const path of tree.list(folder)) if (!wanted.has(path)) await tree.remove(path)
  }
  const own = (await tree.files(CRATES_FOLDER)).filter(isListPath)
  for (const path of [...own, sitemapPath]) if (!wanted.has(path)) await tree.remove(path)
}
