import { frontPath } from '../../core/paths/tree.ts'
import { sha256 } from '../../core/sha256.ts'
import { assets } from '../../site/layout/assets.ts'
import { newerDaemons } from '../database/daemons.ts'
import { LIST, type Queries, run } from '../database/statement.ts'
import type { PublicTree } from '../places/public-tree.ts'
import { type PageContext, pageTurn } from '../projections/context.ts'
import { pagesOf } from '../projections/projection.ts'
import { readValue, writeValue } from '../records/values.ts'

/** The key of the format whose pages the tree has. */
const PAGES = 'pages'

/** Its value while all pages are being marked. */
const CLAIMED = 'being marked'

/**
 * Marks every page if the tree has none, or if its format or site configuration differs. Returns
 * false if a daemon of a newer version renders the pages.
 */
export async function markOutdatedPages(context: PageContext): Promise<boolean> {
  if ((await isRenderedHere(context)) && (await context.tree.read(frontPath)) !== null) return true
  return claimPages(context)
}

/** Returns whether this program has rendered the pages with these settings, or marked them. */
export async function isRenderedHere(context: PageContext): Promise<boolean> {
  return (await readValue(context.database, PAGES)) === pagesFingerprint(context)
}

/** The inputs of all pages besides their crates, and where the tree is. */
interface PagesOrigin extends Pick<PageContext, 'program' | 'site'> {
  readonly tree: Pick<PublicTree, 'place'>
}

/** Returns what all pages depend on besides their crates; changes with the program and settings. */
export function pagesFingerprint({ program, site, tree }: PagesOrigin): string {
  const place = tree.place === null ? [] : [tree.place]
  return sha256(JSON.stringify([program.pageFormat, site, ...place]))
}

/**
 * Makes the pages those of this program: from now on it renders them, all of them once, and daemons
 * with other pages leave theirs marked. Returns false while a daemon of a newer version serves, so
 * that of several versions the newest one renders.
 */
export async function claimPages(context: PageContext): Promise<boolean> {
  const { database, program } = context
  const isNewest = async () => (await newerDaemons(database, program.version)).length === 0
  // Pages refer to them at once; daemons of other versions have them from the tree. In a turn of
  // their own: when they cannot be put there, the pages are not claimed.
  await pageTurn(context, async tree => {
    if (await isNewest()) for (const asset of assets) await tree.write(asset)
  })
  // A batch of an older daemon has ended before, and the next one finds the pages claimed.
  return pageTurn(context, async () => {
    if (!(await isNewest())) return false
    // Nobody renders until all is marked, also if this process stands still and loses the mutex.
    await writeValue(database, PAGES, CLAIMED)
    await database.transaction(tx => markAll(tx, context))
    await writeValue(database, PAGES, pagesFingerprint(context))
    return true
  })
}

/** Marks everything, and deletes marks of kinds that only older programs had. */
async function markAll(tx: Queries, { followers }: PageContext): Promise<void> {
  const kinds = followers.map(({ kind }) => kind)
  await run(tx, `DELETE FROM marks WHERE kind NOT IN ${LIST}`, kinds)
  for (const projection of pagesOf({ followers })) await projection.markAll(tx)
}

/** Returns a record that the tree `copy` has every page of another tree, rendered or marked. */
export async function pagesRecord({
  database,
  program,
  site,
  tree,
}: PageContext): Promise<(db: Queries, copy: Pick<PublicTree, 'place'>) => Promise<void>> {
  const isCurrent = (await readValue(database, PAGES)) === pagesFingerprint({ program, site, tree })
  return async (db, copy) => {
    if (isCurrent) await writeValue(db, PAGES, pagesFingerprint({ program, site, tree: copy }))
  }
}

/** Returns whether the pages are those of this program, where others may render some, too. */
export async function hasPages(context: PageContext): Promise<boolean> {
  if (!context.isShared) return true
  const claimed = await readValue(context.database, PAGES)
  return claimed === null || claimed === pagesFingerprint(context)
}
