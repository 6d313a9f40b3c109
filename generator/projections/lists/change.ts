import type { About } from '../../../core/manifest/manifest.ts'
import { canonicalName } from '../../../core/name.ts'
import { stepOf } from '../../../core/search/columns.ts'
import { insertAll, LIST, type Queries, run, value } from '../../database/statement.ts'
import type { CrateChange } from '../../records/crate-change.ts'
import { type CrateState, isSameNewest } from '../../records/listing.ts'
import { type MarkSubject, marksOf } from '../../records/marks.ts'
import { type Label, type Labels, labelsOf } from '../../records/pages/labels.ts'
import { beginnings } from '../../records/pages/prefixes.ts'

/** Counts a crate that came or went for every prefix of its name, including the empty one. */
export async function changePrefixes(
  tx: Queries,
  { crate, before, after }: CrateChange,
): Promise<void> {
  const prefixes = beginnings(canonicalName(crate.name))
  if (after && !before)
    await insertAll(
      tx,
      'prefixes',
      prefixes.map(prefix => ({ prefix, crates: 1 })),
      'ON CONFLICT (prefix) DO UPDATE SET crates = prefixes.crates + 1',
    )
  if (before && !after) {
    await run(tx, `UPDATE prefixes SET crates = crates - 1 WHERE prefix IN ${LIST}`, prefixes)
    await run(tx, `DELETE FROM prefixes WHERE prefix IN ${LIST} AND crates = 0`, prefixes)
  }
}

/** Returns the labels of a crate; one with only yanked versions has none. */
function shownLabels(state: CrateState | null): Labels {
  return state && state.yanked === 0 ? labelsOf(JSON.parse(state.about) as About) : new Map()
}

/**
 * Changes the labels of a crate, writing only the differences, and reorders the crates that it
 * needs in theirs. The weight is the step of a crate's dependents, which changes rarely. Returns
 * the marks of the pages of all labels that the crate has or had.
 */
export async function changedLabels(
  tx: Queries,
  { crate, before, after, uses }: CrateChange,
): Promise<MarkSubject[]> {
  if (before === after) return []
  for (const use of uses)
    if (stepOf(use.before) !== stepOf(use.after))
      await run(
        tx,
        'UPDATE crate_labels SET weight = ? WHERE crate_id = ?',
        stepOf(use.after),
        use.id,
      )
  const old = shownLabels(before)
  if (isSameNewest(before, after)) return marksOf('label', old.keys())
  const now = shownLabels(after)
  const gone = [...old.keys()].filter(id => !now.has(id))
  const come = [...now.values()].filter(({ id }) => !old.has(id))
  if (gone.length > 0) {
    const sql = `DELETE FROM crate_labels WHERE crate_id = ? AND label_id IN ${LIST}`
    await run(tx, sql, crate.id, gone)
    await run(tx, `UPDATE labels SET crates = crates - 1 WHERE id IN ${LIST}`, gone)
  }
  if (come.length > 0) await addLabels(tx, crate.id, come)
  return marksOf('label', [...old.keys(), ...now.keys()])
}

async function addLabels(tx: Queries, crateId: number, come: readonly Label[]): Promise<void> {
  const labels = come.map(label => ({ ...label, crates: 1 }))
  const counted = 'ON CONFLICT (id) DO UPDATE SET crates = labels.crates + 1'
  await insertAll(tx, 'labels', labels, counted)
  const dependents = 'SELECT dependents FROM listings WHERE crate_id = ?'
  const weight = stepOf((await value<number>(tx, dependents, crateId)) ?? 0)
  const rows = come.map(({ id }) => ({ label_id: id, weight, crate_id: crateId }))
  await insertAll(tx, 'crate_labels', rows)
}
