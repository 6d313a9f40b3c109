import {
  FEEDS_FOLDER,
  SITEMAP_CRATES,
  SITEMAPS_FOLDER,
  sitemapPartPath,
  sitemapPath,
} from '../../../core/paths/tree.ts'
import { isRelisted } from '../../records/crate-change.ts'
import { type MarkSubject, markSelected, SITE, setMarks } from '../../records/marks.ts'
import { rangesOf } from '../../records/pages/id-ranges.ts'
import { type Projection, renderer, replaceFiles } from '../projection.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const files = () => import('./site.ts')

const FRONT = { kind: 'site', subject: SITE } as const
/** The files that change with the program and its settings alone. */
const FIXED = { kind: 'site', subject: SITE + 1 } as const
const FEEDS = { kind: 'feeds', subject: SITE } as const

/** Returns the mark of the part of the site map that a crate is in. */
function partOf(crateId: number): MarkSubject {
  return { kind: 'map', subject: Math.floor(crateId / SITEMAP_CRATES) }
}

/** The pages and files of the registry itself, such as the front page. */
export const registrySite: Projection = {
  kind: 'site',
  work: 'front page',
  changed: async (_, change) => (isRelisted(change) ? [FRONT] : []),
  due: 'soon',
  async render(context, mark) {
    const { areFixed, frontOutput, fixedOutputs } = await files()
    const isFront = mark.subject === FRONT.subject
    const outputs = isFront ? [await frontOutput(context)] : fixedOutputs(context)
    await replaceFiles(context, outputs, [])
    // By a mark of their own: whoever is killed while writing them has written some.
    const again = isFront && !(await areFixed(context)) ? [FIXED] : []
    return { done: [mark], again }
  },
  markAll: tx => setMarks(tx, [FRONT, FIXED], 0),
  async *parts(context) {
    const { frontOutput, fixedOutputs } = await files()
    const render = async () => [await frontOutput(context)]
    yield { about: 'index.html', pending: FRONT, render }
    yield { about: 'assets', pending: FIXED, render: async () => fixedOutputs(context) }
  },
  // The page of the search is in the folder of its files.
  leftover: { folders: [] },
}

/** The feeds of the registry, and the index of its site map. */
export const registryFeeds: Projection = {
  kind: 'feeds',
  work: 'feeds and site map',
  changed: async (_, change) => (isRelisted(change) ? [FEEDS] : []),
  due: 'idle',
  async render(context, mark) {
    await replaceFiles(context, await (await files()).feedOutputs(context), [])
    if (context.site.private) await (await files()).removeSitemaps(context)
    return { done: [mark] }
  },
  markAll: tx => setMarks(tx, [FEEDS], 0),
  async *parts(context) {
    yield {
      about: 'feeds',
      pending: FEEDS,
      render: async () => (await files()).feedOutputs(context),
    }
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
  work: 'parts of the site map',
  changed: async (_, change) => (isRelisted(change) ? [partOf(change.crate.id)] : []),
  due: 'idle',
  render: renderer(
    async (context, part) => (await files()).sitemapPartOutputs(context, part),
    async (_, part) => [sitemapPartPath(part)],
  ),
  markAll: tx =>
    markSelected(
      tx,
      'map',
      `SELECT id / ${SITEMAP_CRATES} AS subject, max(generation) AS generation
        FROM crates GROUP BY 1`,
    ),
  async *parts(context) {
    for (const subject of await rangesOf(context.database, SITEMAP_CRATES))
      yield {
        about: sitemapPartPath(subject),
        pending: { kind: 'map', subject },
        render: async () => (await files()).sitemapPartOutputs(context, subject),
      }
  },
  leftover: {
    folders: [SITEMAPS_FOLDER],
    paths: async ({ database, site }) =>
      site.private ? [] : (await rangesOf(database, SITEMAP_CRATES)).map(sitemapPartPath),
  },
}
