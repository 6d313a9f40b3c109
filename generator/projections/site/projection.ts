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
import { type Projection, replaceFiles } from '../projection.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const files = () => import('./site.ts')

const FRONT = { kind: 'site', subject: SITE } as const
/** The files that change with the program and its settings alone. */
const FIXED = { kind: 'site', subject: SITE + 1 } as const
/** The feeds and the index of the site map; its parts have the subjects from 0 on. */
const FEEDS = { kind: 'feeds', subject: -1 } as const

/** Returns the mark of the part of the site map that a crate is in. */
function partOf(crateId: number): MarkSubject {
  return { kind: 'feeds', subject: Math.floor(crateId / SITEMAP_CRATES) }
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

/** The feeds of the registry, and its site map, in parts for a range of crates each. */
export const feedsAndSiteMap: Projection = {
  kind: 'feeds',
  work: 'feeds and site map',
  changed: async (_, change) => (isRelisted(change) ? [FEEDS, partOf(change.crate.id)] : []),
  due: 'idle',
  async render(context, mark) {
    const { feedOutputs, removeSitemaps, sitemapPartOutputs } = await files()
    const part = mark.subject
    if (part === FEEDS.subject) {
      await replaceFiles(context, await feedOutputs(context), [])
      if (context.site.private) await removeSitemaps(context)
    } else {
      await replaceFiles(context, await sitemapPartOutputs(context, part), [sitemapPartPath(part)])
    }
    return { done: [mark] }
  },
  async markAll(tx) {
    await setMarks(tx, [FEEDS], 0)
    const parts = `SELECT id / ${SITEMAP_CRATES} AS subject, max(generation) AS generation
      FROM crates GROUP BY 1`
    await markSelected(tx, 'feeds', parts)
  },
  async *parts(context) {
    const { feedOutputs, sitemapPartOutputs } = await files()
    yield { about: 'feeds', pending: FEEDS, render: async () => feedOutputs(context) }
    for (const subject of await rangesOf(context.database, SITEMAP_CRATES))
      yield {
        about: sitemapPartPath(subject),
        pending: { kind: 'feeds', subject },
        render: async () => sitemapPartOutputs(context, subject),
      }
  },
  leftover: {
    folders: [FEEDS_FOLDER, SITEMAPS_FOLDER],
    among: '',
    isOwn: path => path === sitemapPath || path.includes('/'),
  },
}
