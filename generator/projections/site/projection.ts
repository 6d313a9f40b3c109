import {
  FEEDS_FOLDER,
  SITEMAP_CRATES,
  SITEMAPS_FOLDER,
  sitemapPartPath,
  sitemapPath,
} from '../../../core/paths/tree.ts'
import { setMarks } from '../../store/catalog/marks.ts'
import { rangesOf } from '../../store/catalog/pages/id-ranges.ts'
import { SITE } from '../../store/database/mark-kinds.ts'
import { run } from '../../store/database/statement.ts'
import { type Projection, renderer } from '../projection.ts'
import { removeSitemaps, sitemapPartOutputs, sitePages } from './site.ts'

const MARK = { kind: 'site', subject: SITE } as const

/** The pages and files of the registry itself, such as the front page and its feeds. */
export const registrySite: Projection = {
  kind: 'site',
  due: 'soon',
  async render(context, mark) {
    for (const output of await sitePages(context)) await context.tree.write(output)
    if (context.site.private) await removeSitemaps(context)
    return { done: [mark] }
  },
  markAll: tx => setMarks(tx, [MARK], 0),
  async *parts(context) {
    yield { about: 'index.html', pending: MARK, render: () => sitePages(context) }
  },
  leftover: {
    folders: [FEEDS_FOLDER],
    among: '',
    isOwn: path => path === sitemapPath || path.startsWith(`${FEEDS_FOLDER}/`),
  },
}

/** The parts of the site map, each for a range of crates. */
export const siteMap: Projection = {
  kind: 'map',
  due: 'soon',
  render: renderer(sitemapPartOutputs, async (_, part) => [sitemapPartPath(part)]),
  markAll: tx =>
    run(
      tx,
      `INSERT INTO marks (kind, subject, generation)
        SELECT 'map', id / ${SITEMAP_CRATES}, max(generation) FROM crates WHERE true GROUP BY 2
        ON CONFLICT DO NOTHING`,
    ),
  async *parts(context) {
    for (const subject of await rangesOf(context.database, SITEMAP_CRATES))
      yield {
        about: sitemapPartPath(subject),
        pending: { kind: 'map', subject },
        render: () => sitemapPartOutputs(context, subject),
      }
  },
  leftover: {
    folders: [SITEMAPS_FOLDER],
    paths: async ({ database, site }) =>
      site.private ? [] : (await rangesOf(database, SITEMAP_CRATES)).map(sitemapPartPath),
  },
}
