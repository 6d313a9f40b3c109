import { forEachConcurrently } from '../../../core/async/concurrently.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import type { Contents } from '../../../core/tarball/contents.ts'
import { readCrate } from '../../records/crates.ts'
import { type MarkSubject, marksOf } from '../../records/marks.ts'
import { listUncounted, writeContents } from '../../records/pages/uncounted.ts'
import { countFile } from '../../sandbox/archive.ts'
import type { PageContext } from '../context.ts'

/** The most archives that are read before a crate's page is rendered. */
const STEP = 50

/**
 * Counts the contents of releases that an older program version added. Returns the marks of their
 * pages, and of the crate's page if there are more than one step counts.
 */
export async function countCrate(
  { database, crates }: PageContext,
  crateId: number,
): Promise<readonly MarkSubject[]> {
  const some = await listUncounted(database, crateId, STEP)
  const crate = some.length > 0 ? await readCrate(database, crateId) : null
  if (!crate) return []
  const counted = new Map<number, Contents | null>()
  await forEachConcurrently(some, async ({ id, cksum, size }) => {
    const file = await crates.localFile(crateKey(crate.name, cksum))
    counted.set(id, file && (await countFile(file.path, size)))
  })
  await writeContents(database, counted)
  return [
    ...marksOf('release', counted.keys()),
    ...(some.length < STEP ? [] : marksOf('page', [crateId])),
  ]
}
