// generator/projections/site: Pages and assets of the whole site. The list of projections has it;
// no other imports it.
import {
  FEEDS_FOLDER,
  type Output,
  SITEMAP_CRATES,
  SITEMAPS_FOLDER,
  sitemapPartPath,
  sitemapPath,
} from '../../../core/paths/tree.ts'
import { isRelisted } from '../../records/crate-change.ts'
import { SITE } from '../../records/marks.ts'
import type { PageContext } from '../context.ts'
import { bySubject, type Pages, replaceFiles } from '../pages.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const files = () => import('./site.ts')

const FRONT = { kind: 'site', subject: SITE } as const
/** The files that change with the program and its settings alone. */
const FIXED = { kind: 'site', subject: SITE + 1 } as const
/** The feeds and the index of the site map; its parts have the subjects from 0 on. */
const FEEDS = { kind: 'feeds', subject: -1 } as const

/** The pages and files of the registry itself, such as the front page. */
export const registrySite: Pages = {
  kind: 'site',
  work: 'front page',
  changed: async (_, change) => (isRelisted(change) ? [FRONT] : []),
  due: 'soon',
  ...bySubject(
    'site',
    `SELECT ${FRONT.subject} AS subject, 0 AS generation, 'index.html' AS about
      UNION ALL SELECT ${FIXED.subject}, 0, 'assets'`,
    siteOutputs,
  ),
  async render(context, mark) {
    await replaceFiles(context, await siteOutputs(context, mark.subject), [])
    // They have their own mark, so that a build killed half-way writes all of them again.
    const isWhole = mark.subject === FIXED.subject || (await (await files()).areFixed(context))
    return { done: [mark], again: isWhole ? [] : [FIXED] }
  },
  // The page of the search is in the folder of its files.
  leftover: { folders: [] },
}

async function siteOutputs(context: PageContext, subject: number): Promise<Output[]> {
  const { frontOutput, fixedOutputs } = await files()
  return subject === FRONT.subject ? [await frontOutput(context)] : fixedOutputs(context)
}

/** The feeds of the registry, and its site map, in parts for a range of crates each. */
export const feedsAndSiteMap: Pages = {
  kind: 'feeds',
  work: 'feeds and site map',
  async changed(_, change) {
    const part = Math.floor(change.crate.id / SITEMAP_CRATES)
    return isRelisted(change) ? [FEEDS, { kind: 'feeds', subject: part }] : []
  },
  due: 'idle',
  ...bySubject(
    'feeds',
    `SELECT ${FEEDS.subject} AS subject, 0 AS generation, 'feeds' AS about
      UNION ALL SELECT id / ${SITEMAP_CRATES}, max(generation), 'sitemap' FROM crates GROUP BY 1`,
    async (context, part) => {
      const { feedOutputs, sitemapPartOutputs } = await files()
      return part === FEEDS.subject ? feedOutputs(context) : sitemapPartOutputs(context, part)
    },
    // A private registry has no site map.
    async (_, part) =>
      part === FEEDS.subject ? [sitemapPath, sitemapPartPath('pages')] : [sitemapPartPath(part)],
  ),
  leftover: {
    folders: [FEEDS_FOLDER, SITEMAPS_FOLDER],
    among: '',
    isOwn: path => path === sitemapPath || path.includes('/'),
  },
}
